#![allow(
    clippy::single_range_in_vec_init,
    clippy::unwrap_in_result,
    reason = "slices of one range are intended, and tests may panic"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use orcish_core::ErrorKind;

use super::super::lister::StoreLister;
use super::super::object::Object;
use super::super::runtime::block_on;
use super::super::source::ObjectSource;
use super::*;
use crate::lister::Lister as _;
use crate::messages::CANNOT_READ;
use crate::messages::CANNOT_WRITE;
use crate::source::ReadAt as _;
use crate::storage::StorageOptions;

/// A local HTTP server that gives the same response to all requests.
struct Server {
    port: u16,
    requests: Arc<AtomicUsize>,
}

impl Server {
    /// `response` is a status line, optionally with headers, and the body.
    fn new(response: (&str, &str)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(AtomicUsize::new(0));
        let (counter, response) = (requests.clone(), format!("HTTP/1.1 {}\r\n\r\n{}", response.0, response.1));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                counter.fetch_add(1, Ordering::AcqRel);
                // The client may have closed the connection.
                let _ = respond(stream.unwrap(), &response);
            }
        });
        Server { port, requests }
    }

    /// A server that responds with a status and a body of the right length.
    fn with_status(status: &str) -> Self {
        Self::new((&format!("{status}\r\nContent-Length: 6\r\nConnection: close"), "reason"))
    }

    fn http_file(&self) -> ObjectSource {
        ObjectSource::open(&format!("http://me:password@127.0.0.1:{}/t/a.orc?sig=secret", self.port), &retries(0))
            .unwrap()
    }

    fn s3_options(&self) -> StorageOptions {
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        let pairs = [
            ("aws_endpoint", endpoint.as_str()),
            ("aws_access_key_id", "key"),
            ("aws_secret_access_key", "secret"),
            ("aws_region", "us-east-1"),
            ("allow_http", "true"),
            ("orcish.max_retries", "0"),
        ];
        pairs.into_iter().collect()
    }

    fn s3_object(&self) -> Object {
        Object::writable("s3://bucket/a.orc", &self.s3_options()).unwrap()
    }
}

fn respond(stream: TcpStream, response: &str) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut body_length) = (String::new(), 0);
    while reader.read_line(&mut line)? > 2 {
        if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            body_length = length.trim().parse().unwrap();
        }
        line.clear();
    }
    io::copy(&mut io::Read::take(reader, body_length), &mut io::sink())?;
    (&stream).write_all(response.as_bytes())
}

fn retries(count: usize) -> StorageOptions {
    [("orcish.max_retries", count.to_string())].into_iter().collect()
}

/// Checks the error of all kinds of requests for a file. Errors contain no secrets.
fn check(server: &Server, kind: io::ErrorKind, message: &str) {
    let file = server.http_file();
    let results = [file.size().map(drop), file.read_suffix(5).map(drop), file.read_ranges(&[0..1]).map(drop)];
    let (lister, path) = StoreLister::open("s3://bucket/t", &server.s3_options()).unwrap();
    let listed = lister.descendants(&[path]).map(drop);
    let put = |object: Object| block_on(async move { object.put(Bytes::new(), CANNOT_WRITE).await }, None);
    for result in results.into_iter().chain([listed, put(server.s3_object())]) {
        let error = result.unwrap_err();
        let text = error.to_string();
        assert_eq!((error.kind(), error.io_kind()), (ErrorKind::Io, Some(kind)), "{text}");
        assert!(text.contains(message) && !text.contains("password") && !text.contains("secret"), "{text}");
    }
}

#[test]
fn missing() {
    check(&Server::with_status("404 Not Found"), io::ErrorKind::NotFound, "");
    let object = Server::with_status("404 Not Found").s3_object();
    let head = block_on(async move { object.head().await.map_err(|error| object.to_error(CANNOT_READ, &error)) }, None);
    assert!(head.unwrap().is_none());
}

#[test]
fn forbidden() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        check(&Server::with_status(status), io::ErrorKind::PermissionDenied, "");
    }
}

#[test]
fn throttled_and_server_errors() {
    for status in ["429 Too Many Requests", "500 Internal Server Error", "503 Slow Down"] {
        check(&Server::with_status(status), io::ErrorKind::Other, status.get(..3).unwrap());
    }
    // Both are retried.
    for status in ["429 Too Many Requests", "503 Slow Down"] {
        let server = Server::with_status(status);
        let url = format!("http://127.0.0.1:{}/a.orc", server.port);
        ObjectSource::open(&url, &retries(1)).unwrap().size().unwrap_err();
        assert_eq!(server.requests.load(Ordering::Acquire), 2, "{status}");
    }
}

#[test]
fn existing_objects() {
    // S3 responds with 412 to an existing object, and with 409 to a concurrent request.
    let server = Server::with_status("412 Precondition Failed");
    let object = server.s3_object();
    let created = block_on(async move { object.put_if_not_exists(Bytes::new(), CANNOT_WRITE).await }, None);
    let error = created.unwrap_err();
    assert_eq!(error.io_kind(), Some(io::ErrorKind::AlreadyExists), "{error}");
    // A read fails with it if the file has been replaced.
    let error = server.http_file().read_ranges(&[0..1]).unwrap_err();
    assert!(error.to_string().contains("another one than when it was opened"), "{error}");
    let object = Server::with_status("501 Not Implemented").s3_object();
    let created = block_on(async move { object.put_if_not_exists(Bytes::new(), CANNOT_WRITE).await }, None);
    assert_eq!(created.unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn uploads_without_parts() {
    let azure = [
        ("azure_storage_account_name", "me"),
        ("azure_storage_account_key", "a2V5"),
        ("allow_http", "true"),
        ("orcish.max_retries", "0"),
    ];
    for (status, body, is_gone) in [
        ("400 Bad Request", "<Error><Code>InvalidBlockList</Code></Error>", true),
        ("400 Bad Request", "<Error><Code>InvalidInput</Code></Error>", false),
        ("404 Not Found", "<Error><Code>NoSuchUpload</Code></Error>", true),
    ] {
        let headers = format!("{status}\r\nContent-Length: {}\r\nConnection: close", body.len());
        let server = Server::new((&headers, body));
        let endpoint = format!("http://127.0.0.1:{}/me", server.port);
        let options: StorageOptions = azure.into_iter().chain([("azure_endpoint", endpoint.as_str())]).collect();
        let object = Object::writable("az://box/a.orc", &options).unwrap();
        let complete = async move {
            let client = object.multipart()?;
            let completed = client.store.complete_multipart(&object.key, &String::new(), Vec::new()).await;
            Ok(to_upload_error("no", &completed.unwrap_err(), &object.address))
        };
        let error = block_on(complete, None).unwrap();
        assert_eq!(error.io_kind() == Some(io::ErrorKind::NotFound), is_gone, "{error}");
    }
}

#[test]
fn connection_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    check(&Server { port, requests: Arc::default() }, io::ErrorKind::ConnectionRefused, "");
}

#[test]
fn broken_bodies() {
    // The connection ends before the body does.
    let headers = "206 Partial Content\r\nContent-Length: 100\r\nContent-Range: bytes 0-99/100\r\nConnection: close";
    let error = Server::new((headers, "short")).http_file().read_ranges(&[0..100]).unwrap_err();
    assert_eq!((error.kind(), error.io_kind()), (ErrorKind::Io, Some(io::ErrorKind::Other)), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn responses_without_the_requested_range() {
    let status = |result: object_store::Result<object_store::GetResult>| {
        let error = result.map(drop).unwrap_err();
        (is_range_unsupported(&error), status(&error))
    };
    let range = "206 Partial Content\r\nContent-Length: 6\r\nConnection: close";
    let wrong_range = format!("{range}\r\nContent-Range: bytes 1-6/100");
    let empty = |status: &str| format!("{status}\r\nContent-Length: 0\r\nConnection: close");
    for (headers, body, expected) in [
        (range.to_owned(), "reason", (true, None)),
        (wrong_range, "reason", (true, None)),
        (empty("416 Range Not Satisfiable"), "", (true, Some(416))),
        (empty("501 Not Implemented"), "", (true, Some(501))),
        (empty("500 Broken"), "", (false, Some(500))),
        // The text of a server is not mistaken for a status.
        ("500 Broken\r\nConnection: close".to_owned(), "Server returned non-2xx status code: 404", (false, Some(500))),
    ] {
        let object = Server::new((&headers, body)).s3_object();
        let options = object_store::GetOptions {
            range: Some(object_store::GetRange::Bounded(0..6)),
            ..object_store::GetOptions::default()
        };
        let get =
            async move { Ok(object_store::ObjectStore::get_opts(&*object.store.objects, &object.key, options).await) };
        assert_eq!(status(block_on(get, None).unwrap()), expected, "{headers}");
    }
}

#[test]
fn credentials_are_removed_from_urls() {
    assert_eq!(without_credentials("no URL at all, a@b"), "no URL at all, a@b");
    assert_eq!(without_credentials("at https://me:it's@host/a@b?c: s3://b/k"), "at https://host/a@b?c: s3://b/k");
    assert_eq!(without_credentials("http://a:b@c@host"), "http://host");
}

#[test]
fn missing_credentials_of_each_store() {
    let s3 = "Error performing PUT http://169.254.169.254/latest/api/token - Server returned non-2xx status code: 403";
    let google = "Error performing GET http://metadata.google.internal/computeMetadata/v1/instance: dns error";
    let azure = "Error performing GET http://169.254.169.254/metadata/identity/oauth2/token: operation timed out";
    for (url, text, key, skip) in [
        ("s3://b/a.orc", s3, "aws_access_key_id", "aws_skip_signature"),
        ("s3a://b/a.orc", s3, "aws_access_key_id", "aws_skip_signature"),
        ("gs://b/a.orc", google, "google_service_account", "google_skip_signature"),
        ("abfss://b@account.dfs.core.windows.net/a.orc", azure, "azure_storage_account_key", "azure_skip_signature"),
    ] {
        let address = Address::try_new(url, &StorageOptions::default()).unwrap();
        let error = object_store::Error::Generic { store: "S3", source: text.into() };
        let error = to_error(CANNOT_READ, &error, &address);
        assert_eq!(error.io_kind(), Some(io::ErrorKind::PermissionDenied), "{error}");
        let message = error.to_string();
        for part in ["cannot be read: no credentials found", key, skip, text] {
            assert!(message.contains(part), "{message}");
        }
    }
    // Another server that refuses is one of the store.
    let address = Address::try_new("s3://b/a.orc", &StorageOptions::default()).unwrap();
    let error =
        object_store::Error::Generic { store: "S3", source: "Error performing GET http://169.254.1.1/b".into() };
    assert!(!to_error(CANNOT_READ, &error, &address).to_string().contains("no credentials"));
}

#[test]
fn missing_account() {
    let address = Address::try_new("az://b/a.orc", &StorageOptions::default()).unwrap();
    let builder = object_store::azure::MicrosoftAzureBuilder::new().with_container_name("b");
    let error = to_builder_error(&builder.build().unwrap_err(), &address);
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    assert!(error.to_string().contains("azure_storage_account_name"), "{error}");
}
