//! Clients of HDFS, and reads and listings of its files.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hdfs_native::client::FileStatus;
use hdfs_native::{Client, ClientBuilder, HdfsError};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use orcish_core::Error;
use orcish_core::process::PerProcess;
use tokio::time::Instant;

use super::address::Address;
use super::error::to_error;
use super::runtime::handle;
use crate::options::DEFAULT_MAX_RETRIES;

/// The name of the store in messages.
const NAME: &str = "HDFS";

/// The port of a name node whose URL has none, as in Hadoop.
const DEFAULT_PORT: u16 = 8020;

/// Prefixes of the properties of Hadoop that a client reads.
const PROPERTIES: [&str; 3] = ["dfs.", "fs.", "hadoop."];

/// Names in properties that have upper-case letters. Spark gives the names of all options in lower case.
const MIXED_CASE: [&str; 3] = ["fs.defaultFS", "linkFallback", "useFQDN"];

/// The property that limits how often an unreachable name node is asked again.
const ATTEMPTS: &str = "dfs.client.failover.max.attempts";

/// The end of messages of the name node about paths below files.
const NOT_A_FOLDER: &str = "(is not a directory)";

/// The time after which a connection to a data node is not used again: three seconds, and the precision of clocks.
const CONNECTION_LIFETIME: Duration = Duration::from_millis(3_100);

/// A client of a cluster. As an [`ObjectStore`] it reads and lists files, and writes none.
#[derive(Debug, Clone)]
pub(super) struct HdfsClient {
    pub(super) client: Client,
    /// The time before which no file is read, see [`first_read_of_child`].
    first_read: Option<Instant>,
}

impl HdfsClient {
    /// Creates a client for the cluster of an address. Properties come from the files in `HADOOP_CONF_DIR`, or else in
    /// `etc/hadoop` below `HADOOP_HOME`, and are overridden by the options of the address. No server is asked.
    ///
    /// # Errors
    /// `InvalidArgument` if a property is unknown or invalid.
    pub(super) fn connect(address: &Address) -> orcish_core::Result<Self> {
        let mut properties = HashMap::new();
        if address.options.max_retries != DEFAULT_MAX_RETRIES {
            properties.insert(ATTEMPTS.to_owned(), address.options.max_retries.to_string());
        }
        for (key, value) in &address.store_options {
            if !PROPERTIES.iter().any(|prefix| key.starts_with(prefix)) {
                let text = format!("unknown storage option {key:?} of {}", address.url.scheme);
                return Err(Error::invalid(text).in_file(&address.name));
            }
            properties.insert(with_upper_case(key), value.clone());
        }
        let runtime = handle()?;
        let build = |url: &str| {
            let builder = ClientBuilder::new().with_url(url).with_config(properties.clone());
            builder.with_io_runtime(runtime.clone()).build()
        };
        let (url, host) = (address.base_url(), address.url.host());
        let client = match build(&url) {
            // The host is not the name of a cluster with several name nodes.
            Err(HdfsError::InvalidArgument(_))
                if !host.is_empty() && !host.contains(':') && url.starts_with("hdfs:") =>
            {
                build(&format!("hdfs://{host}:{DEFAULT_PORT}/"))
            }
            client => client,
        };
        let client = client.map_err(|error| match error {
            HdfsError::InvalidArgument(text) => Error::invalid(text).in_file(&address.name),
            error => to_error("cannot be reached", &store_error(error, &url), address),
        })?;
        Ok(HdfsClient { client, first_read: first_read_of_child() })
    }

    /// The status of a file or folder; `None` if there is none.
    pub(super) async fn status(&self, path: &str) -> Result<Option<FileStatus>> {
        match self.client.get_file_info(path).await.map_err(|error| store_error(error, path)) {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            status => status.map(Some),
        }
    }

    /// The metadata of a file.
    async fn meta(&self, location: &Path) -> Result<ObjectMeta> {
        match self.status(&absolute(location)).await? {
            Some(status) if !status.isdir => object_meta(&status),
            _ => Err(not_found(location.to_string(), "no file has this name")),
        }
    }

    /// The files and folders in a folder, or at any depth below it. A missing folder has none.
    fn statuses(&self, folder: Option<&Path>, recursive: bool) -> BoxStream<'static, Result<FileStatus>> {
        let folder = folder.map_or_else(|| "/".to_owned(), absolute);
        let listed = folder.clone();
        let statuses = self.client.list_status_iter(&folder, recursive).into_stream();
        let statuses = statuses.map_err(move |error| store_error(error, &listed));
        // The status of a file has the path of the folder where the folder is that file. Folders may be removed during
        // the listing.
        let is_listed = move |status: &Result<FileStatus>| match status {
            Ok(status) => status.path != folder,
            Err(error) => !matches!(error, object_store::Error::NotFound { .. }),
        };
        statuses.filter(move |status| std::future::ready(is_listed(status))).boxed()
    }
}

/// The time before which a child of a fork reads no file; `None` in other processes.
///
/// The client keeps connections to data nodes in a variable of the process, for [`CONNECTION_LIFETIME`]. A child has a
/// copy of this variable, and would use connections of its parent.
fn first_read_of_child() -> Option<Instant> {
    static FIRST_READ: PerProcess<Option<Instant>> = PerProcess::new();
    *FIRST_READ.get_or_inherit(|| None, || Some(Instant::now() + CONNECTION_LIFETIME))
}

/// A property with the upper-case letters that its name has in Hadoop.
fn with_upper_case(key: &str) -> String {
    let matches = |part: &str, name: &&&str| part.eq_ignore_ascii_case(name);
    if let Some(name) = MIXED_CASE.iter().find(|name| matches(key, name)) {
        return (*name).to_owned();
    }
    let restore = |part: &str| {
        MIXED_CASE.iter().find(|name| matches(part, name)).map_or(part.to_owned(), |name| (*name).to_owned())
    };
    key.split('.').map(restore).collect::<Vec<_>>().join(".")
}

/// The path of a file in a cluster. Paths of stores have no slash at the start.
pub(super) fn absolute(path: &Path) -> String {
    format!("/{path}")
}

fn not_found(path: String, text: &str) -> object_store::Error {
    object_store::Error::NotFound { path, source: text.into() }
}

fn object_meta(status: &FileStatus) -> Result<ObjectMeta> {
    // Two files of a name differ in one of the two.
    let e_tag = Some(format!("{:x}-{:x}", status.modification_time, status.length));
    let last_modified = (UNIX_EPOCH + Duration::from_millis(status.modification_time)).into();
    let location = Path::parse(&status.path)?;
    Ok(ObjectMeta { location, last_modified, size: status.length as u64, e_tag, version: None })
}

/// Converts an error of a request for a path, by the class of the exception that the name node has answered with.
pub(super) fn store_error(error: HdfsError, path: &str) -> object_store::Error {
    use object_store::Error;
    let path = path.to_owned();
    let class = match &error {
        HdfsError::RPCError(class, _) | HdfsError::FatalRPCError(class, _) => class.rsplit('.').next().unwrap_or(class),
        _ => "",
    };
    match (&error, class) {
        (HdfsError::FileNotFound(_), _) => not_found(path, "the name node knows no such file"),
        (_, "FileNotFoundException" | "ParentNotDirectoryException") => not_found(path, &text(&error)),
        // The path is below a file.
        (_, "AccessControlException") if text(&error).ends_with(NOT_A_FOLDER) => not_found(path, &text(&error)),
        (HdfsError::AlreadyExists(_), _) => {
            Error::AlreadyExists { path, source: "there is a file of this name".into() }
        }
        (HdfsError::SASLError(_) | HdfsError::GSSAPIError(..) | HdfsError::NoSASLMechanism, _) => {
            Error::Unauthenticated { path, source: Box::new(error) }
        }
        (_, "AccessControlException" | "AuthorizationException" | "InvalidToken") => {
            Error::PermissionDenied { path, source: text(&error).into() }
        }
        (HdfsError::RPCError(..) | HdfsError::FatalRPCError(..), _) => {
            Error::Generic { store: NAME, source: text(&error).into() }
        }
        _ => Error::Generic { store: NAME, source: Box::new(error) },
    }
}

/// The message of an error without the stack of the server.
fn text(error: &HdfsError) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or("").to_owned()
}

fn invalid_range(error: impl std::error::Error + Send + Sync + 'static) -> object_store::Error {
    object_store::Error::Generic { store: NAME, source: Box::new(error) }
}

fn unsupported(operation: &str) -> object_store::Error {
    object_store::Error::NotImplemented { operation: operation.to_owned(), implementer: NAME.to_owned() }
}

impl fmt::Display for HdfsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)
    }
}

#[async_trait]
impl ObjectStore for HdfsClient {
    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(unsupported("put"))
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Err(unsupported("put_multipart"))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if options.head {
            let meta = self.meta(location).await?;
            options.check_preconditions(&meta)?;
            let payload = GetResultPayload::Stream(stream::empty().boxed());
            return Ok(GetResult {
                payload,
                meta,
                range: 0..0,
                attributes: Attributes::new(),
                extensions: Default::default(),
            });
        }
        if let Some(time) = self.first_read {
            tokio::time::sleep_until(time).await;
        }
        // The blocks are those of the version of the second status, if the first one is equal to it.
        let before = match &options.if_match {
            Some(_) => None,
            None => Some(self.meta(location).await?),
        };
        let path = absolute(location);
        let reader = self.client.read(&path).await.map_err(|error| store_error(error, &path))?;
        let meta = self.meta(location).await?;
        options.check_preconditions(&meta)?;
        let is_same = before.is_none_or(|before| before == meta);
        if !is_same || reader.file_length() as u64 != meta.size {
            let source = "the file was replaced during the request".into();
            return Err(object_store::Error::Precondition { path: location.to_string(), source });
        }
        let range = match options.range {
            Some(range) => range.as_range(meta.size).map_err(invalid_range)?,
            None => 0..meta.size,
        };
        let start = usize::try_from(range.start).map_err(invalid_range)?;
        let length = usize::try_from(range.end - range.start).map_err(invalid_range)?;
        let bytes = reader.read_range_stream(start, length).map_err(move |error| store_error(error, &path));
        let payload = GetResultPayload::Stream(bytes.boxed());
        Ok(GetResult { payload, meta, range, attributes: Attributes::new(), extensions: Default::default() })
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        stream::once(async { Err(unsupported("delete")) }).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let files = self.statuses(prefix, true).try_filter(|status| std::future::ready(!status.isdir));
        files.and_then(|status| std::future::ready(object_meta(&status))).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let (mut common_prefixes, mut objects) = (Vec::new(), Vec::new());
        let mut statuses = self.statuses(prefix, false);
        while let Some(status) = statuses.try_next().await? {
            if status.isdir {
                common_prefixes.push(Path::parse(&status.path)?)
            } else {
                objects.push(object_meta(&status)?)
            }
        }
        Ok(ListResult { common_prefixes, objects, extensions: Default::default() })
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(unsupported("copy"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::StorageOptions;

    #[test]
    fn properties_have_their_upper_case_letters() {
        for (given, property) in [
            ("fs.defaultfs", "fs.defaultFS"),
            ("fs.viewfs.mounttable.c.linkfallback", "fs.viewfs.mounttable.c.linkFallback"),
            ("dfs.client.failover.resolver.usefqdn.ns", "dfs.client.failover.resolver.useFQDN.ns"),
            ("dfs.ha.namenodes.NS", "dfs.ha.namenodes.NS"),
        ] {
            assert_eq!(with_upper_case(given), property);
        }
    }

    #[test]
    fn properties_are_checked() {
        let connect = |url: &str, options: &[(&str, &str)]| {
            let address = Address::try_new(url, &options.iter().copied().collect::<StorageOptions>()).unwrap();
            HdfsClient::connect(&address).map(drop).map_err(|error| error.to_string())
        };
        connect("hdfs://127.0.0.1:1/t", &[("dfs.client.socket-timeout", "10")]).unwrap();
        connect("hdfs://127.0.0.1/t", &[]).unwrap();
        connect("hdfs:///t", &[("fs.defaultFS", "hdfs://127.0.0.1:1")]).unwrap();
        connect("viewfs://c/t", &[("fs.viewfs.mounttable.c.linkFallback", "hdfs://127.0.0.1:1/")]).unwrap();
        assert!(connect("hdfs://a:1/t", &[("aws_region", "x")]).unwrap_err().contains("\"aws_region\" of hdfs"));
        assert!(connect("viewfs://c/t", &[]).unwrap_err().starts_with("viewfs://c/t: "));
    }

    #[test]
    fn errors_have_kinds_by_their_classes() {
        let kind = |error: HdfsError| {
            let address = Address::try_new("hdfs://a:1/t", &StorageOptions::default()).unwrap();
            let error = to_error("cannot be read", &store_error(error, "/t"), &address);
            assert!(error.to_string().starts_with("hdfs://a:1/t: cannot be read: "), "{error}");
            assert!(!error.to_string().contains("at org"), "{error}");
            error.io_kind().unwrap()
        };
        let exception = |class: &str| HdfsError::RPCError(class.to_owned(), "it is so\n\tat org.apache".to_owned());
        use std::io::ErrorKind::{AlreadyExists, ConnectionRefused, NotFound, Other, PermissionDenied, TimedOut};
        for (class, expected) in [
            ("java.io.FileNotFoundException", NotFound),
            ("org.apache.hadoop.fs.ParentNotDirectoryException", NotFound),
            ("org.apache.hadoop.security.AccessControlException", PermissionDenied),
            ("java.io.IOException", Other),
        ] {
            assert_eq!(kind(exception(class)), expected, "{class}");
        }
        let below_file = "/t/a (is not a directory)\n\tat org.apache".to_owned();
        let class = "org.apache.hadoop.security.AccessControlException".to_owned();
        assert_eq!(kind(HdfsError::RPCError(class, below_file)), NotFound);
        assert_eq!(kind(HdfsError::AlreadyExists("x".to_owned())), AlreadyExists);
        assert_eq!(kind(HdfsError::IOError(ConnectionRefused.into())), ConnectionRefused);
        assert_eq!(kind(HdfsError::IOError(TimedOut.into())), TimedOut);
    }
}
