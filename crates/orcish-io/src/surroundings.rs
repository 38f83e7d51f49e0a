//! What options, the environment and names of hosts say of a location that its URL leaves out or spells differently.

use std::ffi::OsString;
use std::net::IpAddr;

use crate::location::{RemoteUrl, percent_decode};

/// The port of a name node, where a URL has none.
const HDFS_PORT: u16 = 8020;

/// Options with the account of Azure.
const ACCOUNT: [&str; 2] = ["azure_storage_account_name", "account_name"];

/// The option with the cluster of URLs of HDFS that name none, in lower case.
const DEFAULT_CLUSTER: [&str; 1] = ["fs.defaultfs"];

/// Prefixes of the environment variables that contain options of stores.
const ENVIRONMENT_PREFIXES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// Protocols of fsspec that copy what the next URL of a chain names.
const CACHES: [&str; 4] = ["simplecache", "filecache", "blockcache", "cached"];

/// The store of a URL, and the path in it.
pub(crate) struct StorePath {
    /// The kind of store: its usual scheme.
    pub(crate) kind: String,
    /// The account, cluster or server. `None` if it is not known, or if names of buckets say it.
    pub(crate) server: Option<String>,
    /// The port of the server; `None` if it is not known.
    pub(crate) port: Option<u16>,
    /// The parts of the path. That of a store begins with the bucket or container.
    pub(crate) segments: Vec<OsString>,
}

/// Options and names by which locations are identified. None by default.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Options of stores: those of the store of the location first. The last ones are those of the environment.
    options: Vec<Vec<(String, String)>>,
    /// Whether hosts of the public stores are known by their names.
    has_public_hosts: bool,
    /// The name of this machine.
    machine: Option<String>,
}

impl Surroundings {
    /// Adds options of a store, after those of others.
    #[must_use]
    pub fn with_options<K: Into<String>, V: Into<String>>(mut self, pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        let lower = |(key, value): (K, V)| (key.into().to_ascii_lowercase(), value.into());
        self.options.push(pairs.into_iter().map(lower).collect());
        self
    }

    /// Adds the options of the environment, after those that were added before.
    #[must_use]
    pub fn with_environment(self) -> Self {
        let text = |name: OsString| name.into_string().ok();
        let variables = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        let is_relevant =
            |(name, _): &(String, String)| ENVIRONMENT_PREFIXES.iter().any(|known| name.starts_with(known));
        self.with_options(variables.filter(is_relevant).collect::<Vec<_>>())
    }

    /// Has URLs of HTTP of the stores of AWS, Google and Azure, and of endpoints in the options, be those of objects.
    #[must_use]
    pub fn with_public_hosts(mut self) -> Self {
        self.has_public_hosts = true;
        self
    }

    /// Sets the name of this machine, whose servers are those of `localhost`.
    #[must_use]
    pub fn with_machine(mut self, name: &str) -> Self {
        self.machine = Some(name.to_ascii_lowercase());
        self
    }

    /// The canonical form of a URL.
    pub(crate) fn store_path(&self, url: &RemoteUrl) -> StorePath {
        let kind = kind_of(&url.scheme);
        let (path, _) = url.path_and_query();
        if url.is_http() {
            return self.of_http(url, resolved(&percent_decode(path)));
        }
        let host = if kind == "az" { &url.authority } else { url.host() };
        let segments = resolved(path);
        match kind {
            "az" => {
                let (container, server) = host.rsplit_once('@').map_or((host, None), |(name, at)| (name, Some(at)));
                let account = server.map(|server| server.split('.').next().unwrap_or(server));
                let account = account.or_else(|| self.own_option(&ACCOUNT));
                located(kind, account, None, within(&container.to_ascii_lowercase(), segments))
            }
            "hdfs" => {
                let default =
                    || self.own_option(&DEFAULT_CLUSTER).and_then(|url| url.split_once("://")).map(|(_, at)| at);
                let host = if host.is_empty() { default().unwrap_or("") } else { host };
                let (server, port) = self.address(host.split('/').next().unwrap_or(host), HDFS_PORT);
                let is_known = !server.is_empty();
                // Other protocols have the ports of other servers of the cluster.
                let port = (is_known && url.scheme == "hdfs").then_some(port);
                located(kind, is_known.then_some(&server), port, segments)
            }
            "sftp" | "ftp" | "smb" => {
                let usual = if kind == "sftp" {
                    22
                } else if kind == "ftp" {
                    21
                } else {
                    445
                };
                let (server, port) = self.address(host, usual);
                located(kind, Some(&server), Some(port), segments)
            }
            "s3" | "gs" | "viewfs" => located(kind, None, None, within(&host.to_ascii_lowercase(), segments)),
            kind => located(kind, None, None, within(host, segments)),
        }
    }

    /// The canonical form of a URL of HTTP, which may be that of an object of a store.
    fn of_http(&self, url: &RemoteUrl, segments: Vec<OsString>) -> StorePath {
        let (server, port) = self.address(url.host(), if url.scheme == "https" { 443 } else { 80 });
        if self.has_public_hosts {
            for (kind, bucket) in [("s3", bucket_of_aws(&server)), ("gs", bucket_of_google(&server))] {
                if let Some(bucket) = bucket {
                    return located(kind, None, None, within(&bucket, segments));
                }
            }
            if let Some(account) = account_of_azure(&server) {
                return located("az", Some(account), None, segments);
            }
            let pairs = self.options.iter().flatten();
            let endpoints = pairs.flat_map(|(key, url)| kinds_of_option(key).iter().map(move |kind| (*kind, url)));
            for (kind, endpoint) in endpoints {
                if let Some(inside) = self.within_endpoint(endpoint, &server, port, &segments) {
                    let account = if kind == "az" { self.option(&ACCOUNT) } else { None };
                    return located(kind, account, None, inside);
                }
            }
        }
        located(&url.scheme, Some(&server), Some(port), segments)
    }

    /// The bucket and path of a path of a server, if an endpoint is there. The bucket may be a part of the name of the
    /// server.
    fn within_endpoint(&self, url: &str, server: &str, port: u16, path: &[OsString]) -> Option<Vec<OsString>> {
        let (scheme, rest) = url.split_once("://")?;
        let (host, above) = rest.split_once('/').unwrap_or((rest, ""));
        let usual = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
        let (own, own_port) = Some(self.address(host, usual)).filter(|_| !host.is_empty())?;
        let inside = path.strip_prefix(resolved(above).as_slice()).filter(|_| own_port == port)?;
        if own == server {
            return Some(inside.to_vec());
        }
        let splits = server.match_indices('.').map(|(at, _)| server.split_at(at));
        let is_own = |rest: &str| self.address(rest.trim_start_matches('.'), port).0 == own;
        let (bucket, _) = splits.into_iter().find(|(_, rest)| is_own(rest))?;
        Some(within(bucket, path.to_vec()))
    }

    /// An option of the store of the location, or of the environment.
    fn own_option(&self, names: &[&str]) -> Option<&str> {
        let ends = [self.options.first(), self.options.last()];
        ends.into_iter().flatten().find_map(|pairs| find(pairs, names))
    }

    fn option(&self, names: &[&str]) -> Option<&str> {
        self.options.iter().find_map(|pairs| find(pairs, names))
    }

    /// The server and the port of the authority of a URL. Names of this machine are equal; none is looked up.
    fn address(&self, host: &str, usual_port: u16) -> (String, u16) {
        let host = host.to_ascii_lowercase();
        let split = host.rsplit_once(':').filter(|(name, _)| !name.contains(':') || name.ends_with(']'));
        let split = split.and_then(|(name, port)| Some((name, port.parse().ok()?)));
        let (name, port) = split.unwrap_or((&host, usual_port));
        let name = name.trim_matches(['[', ']']).trim_end_matches('.');
        let is_loopback = name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified());
        let is_own = name == "localhost" || is_loopback || self.machine.as_deref() == Some(name);
        (if is_own { "localhost" } else { name }.to_owned(), port)
    }
}

/// The protocols of a chain of fsspec that are not caches, joined, and its last URL. `None` for other locations: keys of
/// stores may have the sign, too.
pub(crate) fn chain(location: &str) -> Option<(String, &str)> {
    let (scheme, _) = location.split_once("://")?;
    if is_known(&scheme.to_ascii_lowercase()) {
        return None;
    }
    let (inner, last) = location.rsplit_once("::")?;
    let is_cache = |url: &str| CACHES.contains(&url.split("://").next().unwrap_or(url).to_ascii_lowercase().as_str());
    let members: Vec<_> = inner.split("::").filter(|url| !is_cache(url)).collect();
    Some((members.join("::"), last))
}

/// The kind of store by the scheme of a URL.
fn kind_of(scheme: &str) -> &str {
    match scheme {
        "s3" | "s3a" | "s3n" => "s3",
        "gs" | "gcs" => "gs",
        "az" | "azure" | "adl" | "abfs" | "abfss" | "wasb" | "wasbs" => "az",
        "hdfs" | "arrow_hdfs" | "webhdfs" | "swebhdfs" => "hdfs",
        "sftp" | "ssh" => "sftp",
        "oci" | "ocilake" => "oci",
        "jupyter" | "jlab" => "jupyter",
        other => other,
    }
}

fn is_known(scheme: &str) -> bool {
    matches!(kind_of(scheme), "s3" | "gs" | "az" | "hdfs" | "viewfs" | "http" | "https" | "sftp")
}

fn located(kind: &str, server: Option<&str>, port: Option<u16>, segments: Vec<OsString>) -> StorePath {
    let server = server.map(str::to_ascii_lowercase);
    StorePath { kind: kind.to_owned(), server, port, segments }
}

/// The parts of a path, without `.` and `..`.
fn resolved(path: &str) -> Vec<OsString> {
    let mut segments: Vec<OsString> = Vec::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty() && *segment != ".") {
        match segment {
            ".." => _ = segments.pop(),
            segment => segments.push(segment.into()),
        }
    }
    segments
}

/// A path below a bucket or container, if it is not empty.
fn within(bucket: &str, path: Vec<OsString>) -> Vec<OsString> {
    let bucket = Some(OsString::from(bucket)).filter(|bucket| !bucket.is_empty());
    bucket.into_iter().chain(path).collect()
}

fn find<'a>(pairs: &'a [(String, String)], names: &[&str]) -> Option<&'a str> {
    let found = pairs.iter().find(|(key, value)| names.contains(&key.as_str()) && !value.is_empty());
    found.map(|(_, value)| value.as_str())
}

/// The kinds of stores whose server an option names.
fn kinds_of_option(key: &str) -> &'static [&'static str] {
    match key {
        "endpoint" => &["s3", "az"],
        "endpoint_url"
        | "endpoint_s3"
        | "endpoint_url_s3"
        | "aws_endpoint"
        | "aws_endpoint_url"
        | "aws_endpoint_s3"
        | "aws_endpoint_url_s3" => &["s3"],
        "base_url" | "google_base_url" => &["gs"],
        "azure_endpoint" | "azure_storage_endpoint" => &["az"],
        _ => &[],
    }
}

/// The bucket in the name of a server of S3; empty if the path has it.
fn bucket_of_aws(host: &str) -> Option<String> {
    let labels: Vec<_> = host.strip_suffix(".cn").unwrap_or(host).strip_suffix(".amazonaws.com")?.split('.').collect();
    let is_service = |at: &usize| {
        let (service, after) = labels.split_at(*at).1.split_first().unwrap_or((&"", &[]));
        let region = after.strip_prefix(&["dualstack"]).unwrap_or(after);
        (*service == "s3" || service.starts_with("s3-")) && region.len() <= 1
    };
    let at = (0..labels.len()).find(is_service)?;
    Some(labels.split_at(at).0.join("."))
}

/// The bucket in the name of a server of Google Cloud Storage; empty if the path has it.
fn bucket_of_google(host: &str) -> Option<String> {
    let bucket =
        ["storage.googleapis.com", "storage.cloud.google.com"].iter().find_map(|own| host.strip_suffix(own))?;
    if bucket.is_empty() { Some(String::new()) } else { bucket.strip_suffix('.').map(str::to_owned) }
}

/// The account in the name of a server of Azure.
fn account_of_azure(host: &str) -> Option<&str> {
    let (account, rest) = host.split_once('.')?;
    let zone = rest.strip_prefix('z').and_then(|rest| rest.split_once('.'));
    let rest = zone.filter(|(number, _)| number.parse::<u32>().is_ok()).map_or(rest, |(_, rest)| rest);
    let domain = rest.strip_prefix("blob.").or_else(|| rest.strip_prefix("dfs."))?;
    let is_azure = domain.starts_with("core.") || matches!(domain, "storage.azure.net" | "fabric.microsoft.com");
    is_azure.then(|| account.strip_suffix("-secondary").unwrap_or(account))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::CanonicalLocation;

    fn at(location: &str) -> CanonicalLocation {
        let around = Surroundings::default().with_public_hosts().with_machine("here");
        CanonicalLocation::of(location, &around.with_options([("aws_endpoint_url", "http://localhost:9000/")]))
    }

    #[test]
    fn spellings_of_one_place() {
        for (one, other) in [
            ("s3://b/t/a.orc", "s3a://b/t/a.orc"),
            ("s3://b/t/a b", "https://b.s3.amazonaws.com/t/a%20b?versionId=1"),
            ("s3://b.c/t", "https://s3.dualstack.eu-central-1.amazonaws.com/b.c/t"),
            ("s3://b/t", "https://b.s3-eu-west-1.amazonaws.com/t"),
            ("s3://b/t", "http://127.0.0.1:9000/b/t"),
            ("s3://b/t", "http://b.here:9000/t"),
            ("gs://b/t", "https://b.storage.googleapis.com/t"),
            ("abfss://c@a.dfs.core.windows.net/t", "https://a-secondary.z5.blob.storage.azure.net:443/c/t"),
            ("hdfs://host/t", "hdfs:///t"),
            ("hdfs://host/t", "webhdfs://host:9870/t"),
            ("hdfs://[::1]:8020/t", "hdfs://HERE//t"),
            ("sftp://user@host/t", "ssh://host:22/t"),
            ("zip://a.orc::simplecache::s3://b/t.zip", "s3://b/t.zip"),
        ] {
            assert!(at(one).may_be(&at(other)) && at(other).may_be(&at(one)), "{one} {other}");
            assert!(
                one.contains("::") || at(other).may_be_below(&at(one.rsplit_once('/').unwrap().0)),
                "{one} {other}"
            );
        }
    }

    #[test]
    fn other_places() {
        for (one, other) in [
            ("s3://b/t", "s3://b/t2"),
            ("s3://b/t", "https://c.s3.amazonaws.com/t"),
            ("s3://b/t", "https://b.s3.evil.com/t"),
            ("s3://b/t", "http://other:9000/b/t"),
            ("az://c@b.blob.core.windows.net/t", "https://a.blob.core.windows.net/c/t"),
            ("hdfs://host/t", "hdfs://host:9000/t"),
            ("http://host/t", "http://host:8080/t"),
            ("zip://a.orc::s3://b/t.zip", "zip://b.orc::s3://b/t.zip"),
            ("s3://b/a::b.orc", "s3://b/b.orc"),
            ("memory://t/a", "memory://t/A"),
            ("s3://b/t", "/b/t"),
        ] {
            assert!(!at(one).may_be(&at(other)) && !at(other).may_be(&at(one)), "{one} {other}");
        }
    }

    #[test]
    fn options_say_what_a_url_leaves_out() {
        let with = |name: &str| Surroundings::default().with_options([("account_name", name)]);
        let of = |name: &str| CanonicalLocation::of("az://c/t", &with(name));
        assert!(of("a").may_be(&CanonicalLocation::new("az://c/t")) && !of("a").may_be(&of("b")));
        assert!(!of("a").has_same_host(&CanonicalLocation::new("az://c/t")));
        let cluster = Surroundings::default().with_options([("fs.defaultFS", "hdfs://one:9000/x")]);
        let default = CanonicalLocation::of("hdfs:///t", &cluster);
        assert!(default.may_be(&at("hdfs://one:9000/t")) && !default.may_be(&at("hdfs://two:9000/t")));
        assert_eq!(at("s3://b/t/a.orc").path(), "b/t/a.orc");
    }
}
