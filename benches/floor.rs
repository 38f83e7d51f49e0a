//! How far reading is from the least that it has to do: `cargo bench --bench floor [FILES]`. It prints a Markdown table.
//!
//! The floor is the decompression of all data streams and one copy of the Arrow data into memory that is in use already. Reading
//! the file, and decoding of run lengths, dictionaries and decimals come on top of it. Without files, those of
//! benches/python/make_data.py are read. Each figure is the median of the rounds, of one thread.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bytes::Bytes;
use orcish::internals::codec::{Framing, Stream};
use orcish::internals::data_streams;
use orcish::internals::source::ByteSource as _;
use orcish::io::FileSource;
use orcish::{Compression, OrcFile, OrcReaderBuilder, ReadOptions};

/// The allocator of the Python module.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 9;
/// Bytes that are copied at a time, so that they come out of the cache.
const COPIED: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let mut files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    if files.is_empty() {
        files = default_files()?;
    }
    println!("| file | decompression | copy | floor | orcish | orcish ÷ floor |\n|---|---:|---:|---:|---:|---:|");
    for path in files {
        println!("{}", line_of(&path)?);
    }
    Ok(())
}

/// The files of benches/python/data.
fn default_files() -> std::io::Result<Vec<PathBuf>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/python/data");
    if !data.exists() {
        eprintln!("floor: no files; run benches/python/make_data.py, or name files");
        return Ok(Vec::new());
    }
    let mut files = std::fs::read_dir(data)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "orc"));
    files.sort();
    Ok(files)
}

fn line_of(path: &Path) -> Result<String, Box<dyn Error>> {
    let file = OrcFile::open(path)?;
    let tail = file.tail();
    let framing = Framing { codec: tail.compression, chunk_size: tail.chunk_size };
    let streams = data_streams(&FileSource::open(path)?, tail)?;
    let arrow_bytes = read(&file)?;
    let mut target = vec![1; arrow_bytes];
    let source = vec![2; COPIED];
    let (mut of_decompression, mut of_copy, mut of_read) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        of_decompression.push(milliseconds(|| decompress(framing, &streams))?);
        of_copy.push(milliseconds(|| {
            target.chunks_mut(COPIED).for_each(|to| to.copy_from_slice(source.split_at(to.len()).0));
            black_box(&target);
            Ok(())
        })?);
        of_read.push(milliseconds(|| read(&file).map(|_| ()))?);
    }
    let [decompression, copy, read] = [of_decompression, of_copy, of_read].map(median);
    let (floor, name) = (decompression + copy, path.file_name().unwrap_or_default().to_string_lossy());
    Ok(format!("| {name} | {decompression:.1} ms | {copy:.1} | {floor:.1} | {read:.1} | {:.2} |", read / floor))
}

/// Reads all batches; returns the bytes of their buffers.
fn read(file: &OrcFile) -> Result<usize, Box<dyn Error>> {
    let builder = OrcReaderBuilder::of_file(file.clone()).with_options(ReadOptions::default().with_threads(1));
    let mut bytes = 0;
    for batch in builder.build()? {
        bytes += batch?.get_array_memory_size();
    }
    Ok(bytes)
}

/// Decompresses streams chunk by chunk. The bytes of a stream without compression are copied.
fn decompress(framing: Framing, streams: &[Bytes]) -> Result<(), Box<dyn Error>> {
    let mut copied = vec![0; COPIED];
    for bytes in streams {
        let mut stream = Stream::new(bytes.clone(), framing);
        loop {
            let chunk = stream.fill(1)?;
            let length = chunk.len().min(COPIED);
            if length == 0 {
                break;
            }
            if framing.codec == Compression::None {
                copied.split_at_mut(length).0.copy_from_slice(chunk.split_at(length).0);
            }
            black_box(&copied);
            stream.consume(length);
        }
    }
    Ok(())
}

fn milliseconds(run: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let begin = Instant::now();
    run()?;
    Ok(begin.elapsed().as_secs_f64() * 1e3)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
