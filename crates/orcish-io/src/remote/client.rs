//! The HTTP client of all stores. It follows redirects without forwarding credentials, and limits response bodies.

use std::error::Error as StdError;
use std::io;

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService};
use reqwest::Certificate;
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE,
    LOCATION, RANGE,
};
use url::Url;

use super::body::{client_error, limit, truncate_error};
use super::client_options::build_client;

/// Maximum number of redirects of a request.
const MAX_REDIRECTS: usize = 10;

/// The headers that are forwarded to another origin. None of them identifies the client. `depth` is a parameter of
/// WebDAV listings.
const CROSS_ORIGIN_HEADERS: [HeaderName; 8] = [
    ACCEPT,
    CONTENT_TYPE,
    HeaderName::from_static("depth"),
    IF_MATCH,
    IF_MODIFIED_SINCE,
    IF_NONE_MATCH,
    IF_UNMODIFIED_SINCE,
    RANGE,
];

/// Creates HTTP clients from the options of stores.
#[derive(Debug)]
pub(super) struct Connector {
    /// Certificates of authorities that are trusted beside those of the system.
    pub(super) certificates: Vec<Certificate>,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let headers = options.get_default_headers().cloned().unwrap_or_else(HeaderMap::new);
        let client = build_client(options, &self.certificates)?;
        Ok(HttpClient::new(RedirectingClient { inner: HttpClient::new(client), headers }))
    }
}

/// A client that follows redirects. The original origin receives all headers, another origin only
/// [`CROSS_ORIGIN_HEADERS`]. The `Referer` header is never sent.
#[derive(Debug)]
struct RedirectingClient {
    /// A client that follows no redirects and adds no default headers.
    inner: HttpClient,
    /// The default headers of requests to the original origin.
    headers: HeaderMap,
}

#[async_trait]
impl HttpService for RedirectingClient {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        for (name, value) in &self.headers {
            request.headers_mut().entry(name).or_insert_with(|| value.clone());
        }
        for _ in 0..=MAX_REDIRECTS {
            let response = self.inner.execute(request.clone()).await;
            let response = response.map_err(|error| final_certificate_error(&request, error))?;
            match redirect(&request, &response)? {
                Some(next) => request = next,
                None => return limit(&request, truncate_error(response).await),
            }
        }
        Err(client_error(format!("more than {MAX_REDIRECTS} redirects")))
    }
}

/// Replaces the error of a certificate that is not accepted by one that names the host, and that is not retried: another
/// attempt has the same result. Other errors are unchanged.
fn final_certificate_error(request: &HttpRequest, error: HttpError) -> HttpError {
    let mut causes = std::iter::successors(error.source(), |&cause| cause_of(cause));
    let rejected = causes.find_map(|cause| match cause.downcast_ref()? {
        rejected @ rustls::Error::InvalidCertificate(reason) => Some((rejected, reason)),
        _ => None,
    });
    let Some((rejected, reason)) = rejected else { return error };
    let hint = match reason {
        rustls::CertificateError::UnknownIssuer => {
            "; the storage option orcish.ca_certificate names a file of authorities to trust"
        }
        _ => "",
    };
    let host = request.uri().host().map_or(String::new(), |host| format!(" {host}"));
    client_error(format!("the certificate of the server{host} is not accepted: {rejected}{hint}"))
}

/// The cause of an error. The source of an `io::Error` is not its content, but the source of its content.
fn cause_of<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<io::Error>() {
        Some(error) => error.get_ref().map(|content| content as _),
        None => error.source(),
    }
}

/// The request to the target of a redirect; `None` if the response is no redirect, or may not be followed.
///
/// # Errors
/// An error for an invalid target, and for a write request that is redirected to another origin.
fn redirect(request: &HttpRequest, response: &HttpResponse) -> Result<Option<HttpRequest>, HttpError> {
    let status = response.status().as_u16();
    let Some(location) = response.headers().get(LOCATION).filter(|_| matches!(status, 301 | 302 | 303 | 307 | 308))
    else {
        return Ok(None);
    };
    let method = request.method().as_str();
    let is_read = matches!(method, "GET" | "HEAD" | "PROPFIND");
    // Clients may replace the method by GET on these statuses, which would be a different request.
    let may_change_method = match method {
        "GET" | "HEAD" => false,
        "PROPFIND" => status == 303,
        _ => matches!(status, 301..=303),
    };
    if may_change_method {
        return Ok(None);
    }
    let from = Url::parse(&request.uri().to_string()).map_err(client_error)?;
    let to = location.to_str().ok().and_then(|location| from.join(location).ok());
    let to = to.filter(|to| matches!(to.scheme(), "http" | "https"));
    let no_url = || client_error("a redirect to what is no URL of HTTP");
    let mut to = to.ok_or_else(no_url)?;
    let host = to.host_str().ok_or_else(no_url)?;
    let is_same_origin = from.origin() == to.origin();
    if !is_same_origin && !is_read {
        let text = format!("a redirect of {method} to another origin, at {host}: only reads are sent there");
        return Err(client_error(text));
    }
    // Credentials in the target are dropped. The calls fail only for URLs without a host, which have no credentials.
    let _ = to.set_username("").and_then(|()| to.set_password(None));
    to.set_fragment(None);
    let mut next = request.clone();
    *next.uri_mut() = to.as_str().parse().map_err(client_error)?;
    if !is_same_origin {
        let forwarded = |name: &HeaderName| Some((name.clone(), request.headers().get(name)?.clone()));
        *next.headers_mut() = CROSS_ORIGIN_HEADERS.iter().filter_map(forwarded).collect();
    }
    Ok(Some(next))
}
