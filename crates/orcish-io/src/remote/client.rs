//! The HTTP client of all stores: it follows redirects without handing secrets on, and reads a piece of what a server says
//! of an error.

use std::fmt::Display;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::net::ToSocketAddrs as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body::{Body, Frame};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE,
    LOCATION, RANGE,
};
use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy, redirect};
use url::Url;

/// Most redirects of a request.
const MOST_REDIRECTS: usize = 10;

/// Most bytes that are read of the body of an error.
const MOST_OF_AN_ERROR: usize = 16 << 10;

/// Most bytes of an answer that is no part of a file: a page of a list, of which that of a WebDAV server has all files of a
/// folder, or what a store says of credentials and uploads.
const MOST_OF_AN_ANSWER: u64 = 256 << 20;

/// The headers that another origin gets: what is asked for, and nothing of who asks. `depth` is that of listings.
const ANYWHERE: [HeaderName; 8] = [
    ACCEPT,
    CONTENT_TYPE,
    HeaderName::from_static("depth"),
    IF_MATCH,
    IF_MODIFIED_SINCE,
    IF_NONE_MATCH,
    IF_UNMODIFIED_SINCE,
    RANGE,
];

/// Makes clients from the options of stores.
#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let headers = options.get_default_headers().cloned().unwrap_or_default();
        Ok(HttpClient::new(Client { inner: HttpClient::new(client(options)?), headers }))
    }
}

/// A client that follows redirects itself. The origin that the caller named gets all headers. Another one gets those of
/// [`ANYWHERE`], and the address of the one before goes to none.
#[derive(Debug)]
struct Client {
    /// Follows no redirect, and adds no header of the user.
    inner: HttpClient,
    /// Of every request to the origin that the caller named.
    headers: HeaderMap,
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        for (name, value) in &self.headers {
            request.headers_mut().entry(name).or_insert_with(|| value.clone());
        }
        for _ in 0..=MOST_REDIRECTS {
            let response = self.inner.execute(request.clone()).await?;
            match redirected(&request, &response)? {
                Some(next) => request = next,
                None => return bounded(&request, with_piece_of_error(response).await),
            }
        }
        Err(failure(format!("more than {MOST_REDIRECTS} redirects")))
    }
}

/// The request that a response asks for, if it is a redirect that can be followed.
fn redirected(request: &HttpRequest, response: &HttpResponse) -> Result<Option<HttpRequest>, HttpError> {
    let status = response.status().as_u16();
    let Some(location) = response.headers().get(LOCATION).filter(|_| matches!(status, 301 | 302 | 303 | 307 | 308))
    else {
        return Ok(None);
    };
    let method = request.method().as_str();
    let is_reading = matches!(method, "GET" | "HEAD" | "PROPFIND");
    // With these statuses a client may change the method, so that another request than the caller's would be made.
    let may_change = match method {
        "GET" | "HEAD" => false,
        "PROPFIND" => status == 303,
        _ => matches!(status, 301..=303),
    };
    if may_change {
        return Ok(None);
    }
    let from = Url::parse(&request.uri().to_string()).map_err(failure)?;
    let to = location.to_str().ok().and_then(|location| from.join(location).ok());
    let to = to.filter(|to| matches!(to.scheme(), "http" | "https") && to.has_host());
    let mut to = to.ok_or_else(|| failure("a redirect to what is no URL of HTTP"))?;
    let is_same = from.origin() == to.origin();
    if !is_same && !is_reading {
        let host = to.host_str().unwrap_or_default();
        return Err(failure(format!("a redirect of {method} to another origin, at {host}: only reads are sent there")));
    }
    // Credentials that a server puts there are none of the caller's. Without a host there is nothing to set.
    let _ = to.set_username("").and_then(|()| to.set_password(None));
    to.set_fragment(None);
    let mut next = request.clone();
    *next.uri_mut() = to.as_str().parse().map_err(failure)?;
    if !is_same {
        let kept = |name: &HeaderName| Some((name.clone(), request.headers().get(name)?.clone()));
        *next.headers_mut() = ANYWHERE.iter().filter_map(kept).collect();
    }
    Ok(Some(next))
}

/// The response, of whose body, where it is that of an error, the first bytes are left, as text.
async fn with_piece_of_error(response: HttpResponse) -> HttpResponse {
    if !response.status().is_client_error() && !response.status().is_server_error() {
        return response;
    }
    let (parts, body) = response.into_parts();
    let (mut stream, mut piece) = (body.bytes_stream(), Vec::new());
    // The status is known whatever becomes of the body.
    while let Some(Ok(bytes)) = stream.next().await {
        let left = MOST_OF_AN_ERROR - piece.len();
        piece.extend_from_slice(bytes.get(..left).unwrap_or(&bytes));
        if piece.len() == MOST_OF_AN_ERROR {
            break;
        }
    }
    HttpResponse::from_parts(parts, String::from_utf8_lossy(&piece).into_owned().into())
}

/// The response, whose body is an error where it has more than [`MOST_OF_AN_ANSWER`] bytes. It says nothing of its length:
/// whoever collects it would make room for as many bytes as a server says that there are. The bytes of a range go to
/// where that range is read, which takes no more than were asked for.
fn bounded(request: &HttpRequest, response: HttpResponse) -> Result<HttpResponse, HttpError> {
    let method = request.method().as_str();
    if request.headers().contains_key(RANGE) || method == "HEAD" {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    // A whole file may be asked for, which is as long as it is: whoever asks looks at its length first.
    if method != "GET" && body.size_hint().lower() > MOST_OF_AN_ANSWER {
        return Err(too_long());
    }
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(Bounded { body, left: MOST_OF_AN_ANSWER })))
}

fn too_long() -> HttpError {
    failure(format!("the answer of the server is longer than the {MOST_OF_AN_ANSWER} bytes that it may have"))
}

/// A body of at most so many bytes.
struct Bounded {
    body: HttpResponseBody,
    left: u64,
}

impl Body for Bounded {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(bytes) = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()) {
            match self.left.checked_sub(bytes.len() as u64) {
                Some(left) => self.left = left,
                None => return Poll::Ready(Some(Err(too_long()))),
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

fn failure(text: impl Display) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, io::Error::other(text.to_string()))
}

/// Options of stores by key, as what they mean to the HTTP client. `object_store` gives them as text.
struct Configuration<'a>(&'a ClientOptions);

impl Configuration<'_> {
    fn text(&self, key: ClientConfigKey) -> Option<String> {
        self.0.get_config_value(&key)
    }

    fn parse<T>(
        &self,
        key: ClientConfigKey,
        what: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> object_store::Result<Option<T>> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let wrong = || config_error(format!("failed to parse {text:?} as {what}"));
        parse(&text).map(Some).ok_or_else(wrong)
    }

    fn flag(&self, key: ClientConfigKey) -> object_store::Result<bool> {
        let parse = |text: &str| match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "on" | "yes" | "y" => Some(true),
            "0" | "false" | "off" | "no" | "n" => Some(false),
            _ => None,
        };
        Ok(self.parse(key, "boolean", parse)?.unwrap_or_default())
    }

    fn duration(&self, key: ClientConfigKey) -> object_store::Result<Option<Duration>> {
        self.parse(key, "duration", |text| humantime::parse_duration(text).ok())
    }
}

fn config_error(text: impl Display) -> object_store::Error {
    object_store::Error::Generic { store: "HTTP client", source: text.to_string().into() }
}

/// A client with these options that follows no redirect.
fn client(options: &ClientOptions) -> object_store::Result<reqwest::Client> {
    use ClientConfigKey as Key;
    let options = Configuration(options);
    let mut builder = ClientBuilder::new().redirect(redirect::Policy::none()).referer(false);
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
    /// Sets what is given.
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
        builder = builder.dns_resolver(Shuffled);
    }
    builder
        .danger_accept_invalid_certs(options.flag(Key::AllowInvalidCertificates)?)
        .https_only(!options.flag(Key::AllowHttp)?)
        // Lengths of bodies are those of files.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .build()
        .map_err(config_error)
}

/// Addresses of a host in random order, so that requests spread over the servers of a store.
struct Shuffled;

impl Resolve for Shuffled {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let find = move || (host.as_str(), 0).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
            let mut found = tokio::task::spawn_blocking(find).await??;
            let order = RandomState::new();
            found.sort_by_cached_key(|address| order.hash_one(address));
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use http_body::SizeHint;
    use orcish_core::Error;
    use reqwest::header::HeaderValue;

    use super::super::process::wait;
    use super::*;

    #[test]
    fn bodies_are_bounded_and_do_not_say_how_long_they_are() {
        let collect = |left: u64| {
            let body = HttpResponseBody::new(Bounded { body: vec![7; 10].into(), left });
            assert_eq!(body.size_hint().lower(), 0);
            wait(async move { body.bytes().await.map_err(|error| Error::invalid(error.to_string())) }, None)
        };
        assert_eq!(collect(10).unwrap(), vec![7; 10]);
        let error = collect(9).unwrap_err();
        assert!(error.to_string().contains("the answer of the server is longer than"), "{error}");
    }

    #[test]
    fn what_is_too_long_is_not_waited_for_unless_it_may_be_a_file() {
        /// A body that says that it is long.
        struct Long;

        impl Body for Long {
            type Data = Bytes;
            type Error = HttpError;

            fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
                Poll::Ready(None)
            }

            fn size_hint(&self) -> SizeHint {
                SizeHint::with_exact(u64::MAX)
            }
        }

        let asked = |method: &str, header: Option<HeaderName>| {
            let mut request = HttpRequest::new(Bytes::new().into());
            *request.method_mut() = method.parse().unwrap();
            request.headers_mut().extend(header.map(|name| (name, HeaderValue::from_static("bytes=-1"))));
            let response = bounded(&request, HttpResponse::new(HttpResponseBody::new(Long)));
            response.map(|response| response.body().size_hint().lower()).ok()
        };
        for (method, header, expected) in [
            ("PROPFIND", None, None),
            ("POST", None, None),
            ("GET", None, Some(0)),
            ("GET", Some(RANGE), Some(u64::MAX)),
            ("HEAD", None, Some(u64::MAX)),
        ] {
            assert_eq!(asked(method, header), expected, "{method}");
        }
    }
}
