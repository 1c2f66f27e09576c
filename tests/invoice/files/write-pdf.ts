import { deflateSync } from 'node:zlib'

export interface PdfShape {
  readonly pages: number
  readonly wordsPerPage: number
  /** `plain` has an object for each page, `shared` names one page many times, `packed` hides pages in a compressed stream. */
  readonly layout: 'plain' | 'shared' | 'packed'
}

/** Writes a document whose pages all show the same words. */
export function writePdf({ pages, wordsPerPage, layout }: PdfShape): Buffer {
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 3 0 R >>'
  const kids =
    layout === 'shared'
      ? Array<string>(pages).fill('4 0 R')
      : Array.from({ length: pages }, (_, index) => `${4 + index} 0 R`)
  const tree = `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pages} >>`
  const shown = deflateSync(Buffer.from(`BT (${'word '.repeat(wordsPerPage)}) Tj ET`))
  const objects: Buffer[] = [object(1, '<< /Type /Catalog /Pages 2 0 R >>'), stream(3, '', shown)]
  const numbers = layout === 'shared' ? [4] : kids.map((_, index) => 4 + index)
  if (layout === 'packed')
    objects.push(pack([[2, tree], ...numbers.map((number) => [number, page] as const)]))
  else objects.push(object(2, tree), ...numbers.map((number) => object(number, page)))
  return Buffer.concat([
    Buffer.from('%PDF-1.7\n'),
    ...objects,
    Buffer.from('trailer << /Root 1 0 R >>\n%%EOF\n'),
  ])
}

function object(number: number, text: string): Buffer {
  return Buffer.from(`${number} 0 obj\n${text}\nendobj\n`)
}

function stream(number: number, members: string, data: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`${number} 0 obj\n<< ${members}/Filter /FlateDecode /Length ${data.length} >>\nstream\n`),
    data,
    Buffer.from('\nendstream\nendobj\n'),
  ])
}

function pack(entries: readonly (readonly [number, string])[]): Buffer {
  let offset = 0
  const index: string[] = []
  const texts: string[] = []
  for (const [number, text] of entries) {
    index.push(`${number} ${offset}`)
    texts.push(text)
    offset += text.length + 1
  }
  const head = `${index.join(' ')} `
  const data = deflateSync(Buffer.from(head + texts.join(' ')))
  return stream(100_000, `/Type /ObjStm /N ${entries.length} /First ${head.length} `, data)
}
