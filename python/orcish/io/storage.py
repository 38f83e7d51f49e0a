"""Options of S3, with what the profiles of AWS say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from orcish.io.aws_profile import Profile, credentials_of, read_profile
from orcish.io.names import display_name

__all__ = ["with_profile"]

PROFILE = "aws_profile"
"""The option with the name of a profile."""
SKIP = "skip_signature"
TRUE = ("1", "true", "on", "yes", "y")
"""Texts that the native core takes for true."""
SOURCES = (
    ("credentials",),
    ("access_key_id",),
    ("secret_access_key",),
    (SKIP,),
    ("web_identity_token_file", "role_arn"),
    ("container_credentials_relative_uri",),
    ("container_credentials_full_uri", "container_authorization_token_file"),
    ("metadata_endpoint",),
)
"""Options by which the native core finds credentials, without ``aws_``."""
REGIONS = ("region", "default_region")
ENDPOINTS = ("endpoint", "endpoint_url", "endpoint_url_s3")


def with_profile(url: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options of the store of a URL of S3. What is in neither the options nor the environment comes from the
    profile of AWS: credentials, the region, and the endpoint. ``_native.complete_storage`` calls this function in each
    process, as the environment is looked up.

    Args:
        url: The URL.
        options: The options of the user.

    Raises:
        PermissionError: There are no credentials anywhere, and the role of the machine is not to be asked for.
        UnsupportedError: Only botocore obtains them, and it is not installed.
        ValueError: The endpoint is one of HTTP that is not allowed. The files of profiles cannot be parsed, or there is
            no such profile.
    """
    own = _given(options)
    around = _given({key: value for key, value in os.environ.items() if key.startswith("AWS_") and value})
    _check_http(url, options, own | around)
    name = options.pop(PROFILE, None)
    # A profile of the options takes precedence over the credentials of the environment.
    has_credentials = _has_credentials(own if name is not None else own | around)
    has_region, has_endpoint = (not (own | around).isdisjoint(keys) for keys in (REGIONS, ENDPOINTS))
    if has_credentials and has_region and has_endpoint:
        return options
    try:
        profile = read_profile(None if name is None else str(name))
    except (ValueError, OSError):
        if has_credentials:
            return options
        raise
    added: dict[str, Any] = {}
    if not has_credentials:
        added |= _credentials(url, profile)
    if not has_region and profile.settings.get("region"):
        added["aws_region"] = profile.settings["region"]
    if not has_endpoint and profile.endpoint:
        added["aws_endpoint"] = profile.endpoint
        if profile.endpoint.lower().startswith("http://") and "allow_http" not in own | around:
            added["aws_allow_http"] = True
    return {**added, **options}


def _check_http(url: str, options: Mapping[str, Any], keys: set[str]) -> None:
    """Refuses an endpoint without TLS that is not allowed, which is an error of each request otherwise.

    Raises:
        ValueError: The endpoint is one of HTTP, and no option says whether HTTP is allowed.
    """
    endpoint = next((str(options[key]) for key in options if key.lower().removeprefix("aws_") in ENDPOINTS), "")
    if endpoint.lower().startswith("http://") and "allow_http" not in keys:
        raise ValueError(
            f'{display_name(url)}: the endpoint is without TLS: allow it with storage_options={{"allow_http": True}}'
        )


def _given(options: Mapping[str, Any]) -> set[str]:
    """Names of options without ``aws_``. A signature that is not skipped is no choice."""
    names = {key.lower().removeprefix("aws_"): value for key, value in options.items()}
    return {name for name, value in names.items() if name != SKIP or str(value).lower() in TRUE}


def _has_credentials(keys: set[str]) -> bool:
    return any(keys.issuperset(source) for source in SOURCES)


def _credentials(url: str, profile: Profile) -> dict[str, Any]:
    if profile.name != "default" and not profile.exists:
        raise ValueError(f"there is no such profile: {profile.describe()}")
    found = credentials_of(profile)
    if found is None and os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        bucket = "/".join(url.split("/")[:3])
        raise PermissionError(
            f"{bucket}: no credentials found, in storage_options, the environment (AWS_ACCESS_KEY_ID, "
            "AWS_WEB_IDENTITY_TOKEN_FILE, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI), "
            f'{profile.describe()}: a public bucket is read with storage_options={{"aws_skip_signature": True}}'
        )
    # Without credentials, the native core asks for those of the role of the machine with its first request.
    return found or {}
