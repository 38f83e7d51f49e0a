//! Limits on the size of response bodies.

use std::fmt::Display;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body::{Body, Frame};
use object_store::client::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody};
use reqwest::header::RANGE;

/// Maximum number of bytes that are read of the body of an error response.
const MAX_ERROR_SIZE: usize = 16 << 10;

/// Maximum size, in bytes, of a response that is not a range of a file, such as a page of a listing. WebDAV servers
/// list a whole folder in one response.
const MAX_RESPONSE_SIZE: u64 = 256 << 20;

/// Truncates the body of an error response to [`MAX_ERROR_SIZE`] bytes of UTF-8 text. Other responses are unchanged.
pub(super) async fn truncate_error(response: HttpResponse) -> HttpResponse {
    if !response.status().is_client_error() && !response.status().is_server_error() {
        return response;
    }
    let (parts, body) = response.into_parts();
    let (mut stream, mut text) = (body.bytes_stream(), Vec::new());
    // An error of the body is ignored: the status is sufficient.
    while let Some(Ok(bytes)) = stream.next().await {
        let remaining = MAX_ERROR_SIZE - text.len();
        text.extend_from_slice(bytes.get(..remaining).unwrap_or(&bytes));
        if text.len() == MAX_ERROR_SIZE {
            break;
        }
    }
    HttpResponse::from_parts(parts, String::from_utf8_lossy(&text).into_owned().into())
}

/// Limits the body of a response to [`MAX_RESPONSE_SIZE`] bytes, and hides its size hint, from which collectors of the
/// body would allocate memory. Responses to range requests are unchanged: their reader checks the size.
pub(super) fn limit(request: &HttpRequest, response: HttpResponse) -> Result<HttpResponse, HttpError> {
    let method = request.method().as_str();
    if request.headers().contains_key(RANGE) || method == "HEAD" {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    // The response to GET may be a whole file. Its reader checks the size before it reads the body.
    if method != "GET" && body.size_hint().lower() > MAX_RESPONSE_SIZE {
        return Err(too_large());
    }
    let body = LimitedBody { inner: body, remaining: MAX_RESPONSE_SIZE };
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
}

/// An error of the HTTP client.
pub(super) fn client_error(text: impl Display) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, io::Error::other(text.to_string()))
}

fn too_large() -> HttpError {
    client_error(format!("the answer of the server is longer than the {MAX_RESPONSE_SIZE} bytes that it may have"))
}

/// A body that fails after a number of bytes, and has no size hint.
struct LimitedBody {
    inner: HttpResponseBody,
    remaining: u64,
}

impl Body for LimitedBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        if let Some(bytes) = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()) {
            match self.remaining.checked_sub(bytes.len() as u64) {
                Some(remaining) => self.remaining = remaining,
                None => return Poll::Ready(Some(Err(too_large()))),
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use http_body::SizeHint;
    use orcish_core::Error;
    use reqwest::header::{HeaderName, HeaderValue};

    use super::super::runtime::block_on;
    use super::*;

    #[test]
    fn bodies_are_limited_and_have_no_size_hint() {
        let collect = |remaining: u64| {
            let body = HttpResponseBody::new(LimitedBody { inner: vec![7; 10].into(), remaining });
            assert_eq!(body.size_hint().lower(), 0);
            block_on(async move { body.bytes().await.map_err(|error| Error::invalid(error.to_string())) }, None)
        };
        assert_eq!(collect(10).unwrap(), vec![7; 10]);
        let error = collect(9).unwrap_err();
        assert!(error.to_string().contains("the answer of the server is longer than"), "{error}");
    }

    #[test]
    fn too_large_responses_fail_early_unless_they_may_be_files() {
        /// A body with the largest size hint.
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

        let size_hint = |method: &str, header: Option<HeaderName>| {
            let mut request = HttpRequest::new(Bytes::new().into());
            *request.method_mut() = method.parse().unwrap();
            request.headers_mut().extend(header.map(|name| (name, HeaderValue::from_static("bytes=-1"))));
            let response = limit(&request, HttpResponse::new(HttpResponseBody::new(Long)));
            response.map(|response| response.body().size_hint().lower()).ok()
        };
        for (method, header, expected) in [
            ("PROPFIND", None, None),
            ("POST", None, None),
            ("GET", None, Some(0)),
            ("GET", Some(RANGE), Some(u64::MAX)),
            ("HEAD", None, Some(u64::MAX)),
        ] {
            assert_eq!(size_hint(method, header), expected, "{method}");
        }
    }
}
