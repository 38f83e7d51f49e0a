//! HTTP clients built from the options of `object_store`.

use std::fmt::Display;
use std::hash::{BuildHasher as _, RandomState};
use std::net::ToSocketAddrs as _;
use std::time::Duration;

use object_store::{ClientConfigKey as Key, ClientOptions};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy, redirect};

/// Typed access to client options, which `object_store` returns as text.
struct TypedOptions<'a>(&'a ClientOptions);

impl TypedOptions<'_> {
    fn text(&self, key: Key) -> Option<String> {
        self.0.get_config_value(&key)
    }

    fn parse<T>(
        &self,
        key: Key,
        type_name: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> object_store::Result<Option<T>> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let invalid = || config_error(format!("failed to parse {text:?} as {type_name}"));
        parse(&text).map(Some).ok_or_else(invalid)
    }

    fn flag(&self, key: Key) -> object_store::Result<bool> {
        let parse = |text: &str| match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "on" | "yes" | "y" => Some(true),
            "0" | "false" | "off" | "no" | "n" => Some(false),
            _ => None,
        };
        Ok(self.parse(key, "boolean", parse)? == Some(true))
    }

    fn duration(&self, key: Key) -> object_store::Result<Option<Duration>> {
        self.parse(key, "duration", |text| humantime::parse_duration(text).ok())
    }
}

fn config_error(text: impl Display) -> object_store::Error {
    object_store::Error::Generic { store: "HTTP client", source: text.to_string().into() }
}

/// Builds an HTTP client that follows no redirects and decodes no content encodings. It trusts `certificates` beside those
/// of the system, unless the options exclude the latter.
pub(super) fn build_client(
    options: &ClientOptions,
    certificates: &[Certificate],
) -> object_store::Result<reqwest::Client> {
    let options = TypedOptions(options);
    let mut builder = ClientBuilder::new().redirect(redirect::Policy::none()).referer(false);
    builder = if options.flag(Key::NoSystemCertificates)? {
        builder.tls_certs_only(certificates.to_vec())
    } else {
        builder.tls_certs_merge(certificates.to_vec())
    };
    let agent = options.text(Key::UserAgent);
    builder = builder.user_agent(agent.as_deref().unwrap_or(concat!("orcish/", env!("CARGO_PKG_VERSION"))));
    if let Some(url) = options.text(Key::ProxyUrl) {
        let mut proxy = Proxy::all(url).map_err(config_error)?;
        if let Some(excluded) = options.text(Key::ProxyExcludes) {
            proxy = proxy.no_proxy(NoProxy::from_string(&excluded));
        }
        builder = builder.proxy(proxy);
        if let Some(certificate) = options.text(Key::ProxyCaCertificate) {
            let certificate = Certificate::from_pem(certificate.as_bytes()).map_err(config_error)?;
            builder = builder.tls_certs_merge([certificate]);
        }
    }
    /// Calls a method of the builder if the option is set.
    macro_rules! set {
        ($method:ident, $value:expr) => {
            if let Some(value) = $value? {
                builder = builder.$method(value);
            }
        };
    }
    set!(timeout, options.duration(Key::Timeout));
    set!(connect_timeout, options.duration(Key::ConnectTimeout));
    set!(read_timeout, options.duration(Key::ReadTimeout));
    set!(pool_idle_timeout, options.duration(Key::PoolIdleTimeout));
    set!(pool_max_idle_per_host, options.parse(Key::PoolMaxIdlePerHost, "number", |text| text.parse().ok()));
    set!(http2_keep_alive_interval, options.duration(Key::Http2KeepAliveInterval));
    set!(http2_keep_alive_timeout, options.duration(Key::Http2KeepAliveTimeout));
    set!(http2_max_frame_size, options.parse(Key::Http2MaxFrameSize, "number", |text| text.parse::<u32>().ok()));
    if options.flag(Key::Http2KeepAliveWhileIdle)? {
        builder = builder.http2_keep_alive_while_idle(true);
    }
    if options.flag(Key::Http1Only)? {
        builder = builder.http1_only();
    }
    if options.flag(Key::Http2Only)? {
        builder = builder.http2_prior_knowledge();
    }
    if options.flag(Key::RandomizeAddresses)? {
        builder = builder.dns_resolver(ShuffledResolver);
    }
    builder
        .danger_accept_invalid_certs(options.flag(Key::AllowInvalidCertificates)?)
        .https_only(!options.flag(Key::AllowHttp)?)
        // The length of a body has to be that of the file.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .build()
        .map_err(config_error)
}

/// A resolver that returns the addresses of a host in random order, which spreads requests over the servers of a store.
struct ShuffledResolver;

impl Resolve for ShuffledResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let lookup = move || (host.as_str(), 0).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
            let mut addresses = tokio::task::spawn_blocking(lookup).await??;
            let order = RandomState::new();
            addresses.sort_by_cached_key(|address| order.hash_one(address));
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
