/** The tags of FLAC and Ogg: who wrote it, and one comment. */
export function writeVorbisComment(comment: string): Buffer {
  return Buffer.concat([writeText('Parkway sandbox'), writeCount(1), writeText(`COMMENT=${comment}`)])
}

function writeText(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([writeCount(bytes.length), bytes])
}

function writeCount(count: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(count)
  return bytes
}
