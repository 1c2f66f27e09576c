export type ContentCoding = 'br' | 'gzip' | 'identity'

const HEADER_LENGTH_MAX = 500
const PREFERRED: readonly ContentCoding[] = ['br', 'gzip']

/** Returns the smallest coding that an `Accept-Encoding` header allows. */
export function pickCoding(header: string | undefined): ContentCoding {
  if (header === undefined || header.length > HEADER_LENGTH_MAX) return 'identity'
  const weights = new Map(header.toLowerCase().split(',').map(readWeight))
  const allows = (coding: ContentCoding): boolean => (weights.get(coding) ?? weights.get('*') ?? 0) > 0
  return PREFERRED.find(allows) ?? 'identity'
}

function readWeight(part: string): [coding: string, weight: number] {
  const [coding = '', ...parameters] = part.split(';').map((text) => text.trim())
  const quality = parameters.find((text) => text.startsWith('q='))
  return [coding, quality === undefined ? 1 : Number(quality.slice(2)) || 0]
}
