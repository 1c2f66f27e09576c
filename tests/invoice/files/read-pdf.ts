import { inflateSync } from 'node:zlib'

interface PdfContent {
  readonly pages: number
  /** The words of all pages. */
  readonly text: string
}

/** Reads a document as a vendor does: walks the tree of its pages and draws each, whatever its count claims. */
export function readPdf(bytes: Buffer): PdfContent {
  const { objects, streams } = readObjects(bytes)
  const root = /\/Root (\d+) 0 R/.exec(bytes.toString('latin1'))?.[1]
  const tree = /\/Pages (\d+) 0 R/.exec(objects.get(Number(root)) ?? '')?.[1]
  const texts: string[] = []
  const walk = (number: number, depth: number) => {
    const text = objects.get(number) ?? ''
    const kids = /\/Kids \[([^\]]*)\]/.exec(text)?.[1]
    if (kids !== undefined && depth < DEPTH_MAX)
      for (const [, kid] of kids.matchAll(/(\d+) 0 R/g)) walk(Number(kid), depth + 1)
    else if (/\/Type \/Page\b/.test(text)) {
      const content = Number(/\/Contents (\d+) 0 R/.exec(text)?.[1])
      texts.push(/\((.*)\) Tj/s.exec(streams.get(content) ?? '')?.[1] ?? '')
    }
  }
  walk(Number(tree), 0)
  return { pages: texts.length, text: texts.join('\n') }
}

const DEPTH_MAX = 16

function readObjects(bytes: Buffer) {
  const objects = new Map<number, string>()
  const streams = new Map<number, string>()
  const raw = bytes.toString('latin1')
  for (const match of raw.matchAll(/(\d+) 0 obj\n(.*?)\n(endobj|stream)\n/gs)) {
    const [whole, number = '', text = '', ending] = match
    objects.set(Number(number), text)
    if (ending !== 'stream') continue
    const start = match.index + whole.length
    const length = Number(/\/Length (\d+)/.exec(text)?.[1])
    const data = inflateSync(bytes.subarray(start, start + length)).toString('latin1')
    streams.set(Number(number), data)
    if (text.includes('/ObjStm')) for (const [packed, body] of unpack(text, data)) objects.set(packed, body)
  }
  return { objects, streams }
}

function unpack(members: string, data: string): [number, string][] {
  const first = Number(/\/First (\d+)/.exec(members)?.[1])
  const numbers = data.slice(0, first).trim().split(' ').map(Number)
  const found: [number, string][] = []
  for (let at = 0; at + 1 < numbers.length; at += 2) {
    const from = first + (numbers[at + 1] ?? 0)
    const to = at + 3 < numbers.length ? first + (numbers[at + 3] ?? 0) : data.length
    found.push([numbers[at] ?? 0, data.slice(from, to)])
  }
  return found
}
