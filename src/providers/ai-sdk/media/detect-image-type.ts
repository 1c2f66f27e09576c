const SIGNATURES: readonly (readonly [contentType: string, offset: number, bytes: string])[] = [
  ['image/png', 0, '\x89PNG'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/webp', 8, 'WEBP'],
  ['image/gif', 0, 'GIF8'],
  ['image/avif', 4, 'ftypavif'],
]

/** Detects the type from the first bytes, because packages do not return it. */
export function detectImageType(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  return (
    SIGNATURES.find(([, offset, text]) => head.startsWith(text, offset))?.[0] ?? 'application/octet-stream'
  )
}
