/** Returns a file with the header of the format and this many bytes. */
export function sampleFile(extension: string, bytes = 2_000): Buffer {
  const head = HEADS[extension]
  if (head === undefined) throw new Error(`there is no sample of ${extension}`)
  const file = Buffer.alloc(Math.max(bytes, head.length))
  for (let at = 0; at < file.length; at += 1) file[at] = (at * 7) % 251
  head.copy(file)
  return file
}

const brand = (major: string, ...others: string[]): Buffer => {
  const brands = [major, '\0\0\0\0', ...others].join('')
  const head = Buffer.alloc(8 + brands.length)
  head.writeUInt32BE(head.length)
  head.write(`ftyp${brands}`, 4, 'latin1')
  return head
}

export const HEADS: Readonly<Record<string, Buffer>> = {
  png: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  jpg: Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
  gif: Buffer.from('GIF89a'),
  webp: Buffer.from('RIFF\x10\x20\x30\x40WEBPVP8 ', 'latin1'),
  avif: brand('avif', 'mif1', 'miaf'),
  mp4: brand('isom', 'isom', 'iso2', 'avc1', 'mp41'),
  mov: brand('qt  ', 'qt  '),
  m4a: brand('M4A ', 'isom'),
  webm: Buffer.from('\x1a\x45\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1f\x42\x82\x84webm', 'latin1'),
  mp3: Buffer.from('ID3\x04\x00\x00\x00\x00\x00\x00', 'latin1'),
  wav: Buffer.from('RIFF\x10\x20\x30\x40WAVEfmt ', 'latin1'),
  ogg: Buffer.from(`OggS\0\x02${'\0'.repeat(20)}\x01\x13OpusHead`, 'latin1'),
  flac: Buffer.from('fLaC\0\0\0\x22', 'latin1'),
  aac: Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x00, 0x1f, 0xfc]),
}
