//! Fetches a page over two paths: `fetch ADDRESS:PORT PATH DEVICE=ADDRESS [DEVICE=ADDRESS …]`.
//!
//! Each DEVICE is created as a TUN device, with ADDRESS as this stack's on it. Before data can pass, the machine has to
//! route and translate its packets: `subflow proxy --dry-run --via INTERFACE` prints how.

#[cfg(target_os = "linux")]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    use subflow_tokio::{Options, Path, Stack, TunDevice};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let mut arguments = std::env::args().skip(1);
    let (Some(server), Some(page)) = (arguments.next(), arguments.next()) else {
        return Err("expected ADDRESS:PORT PATH DEVICE=ADDRESS [DEVICE=ADDRESS …]".into());
    };
    let mut paths = Vec::new();
    for argument in arguments {
        let (device, address) = argument.split_once('=').ok_or("expected DEVICE=ADDRESS")?;
        paths.push(Path::new(TunDevice::create(device)?, [address.parse()?]));
    }
    let stack = Stack::new(paths, Options::named("lia", "ll", "full-mesh")?)?;
    let mut stream = stack.connect(server.parse()?).await?;
    stream.write_all(format!("GET {page} HTTP/1.0\r\nHost: {server}\r\n\r\n").as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    println!("{} bytes; subflows: {:#?}", answer.len(), stream.subflows());
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("TUN devices are Linux's");
}
