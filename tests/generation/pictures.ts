import sharp from 'sharp'

/** Creates a real picture of one colour. */
export async function paintPng(width = 32, height = 24): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: '#336699' } })
    .png()
    .toBuffer()
}

export async function describePicture(bytes: Uint8Array): Promise<string> {
  const { format, width, height } = await sharp(bytes).metadata()
  return `${format} ${width}x${height}`
}

/** Downloads a file without a key. */
export async function download(url: string): Promise<{ bytes: Buffer; contentType: string | null }> {
  const answer = await fetch(url)
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}`)
  return {
    bytes: Buffer.from(await answer.arrayBuffer()),
    contentType: answer.headers.get('content-type'),
  }
}
