import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import PdfDocument from 'pdfkit'
import type { PrintedDocument, PrintedTable } from './printed-document.ts'

const MARGIN = 48
const TITLE_SIZE = 20
const HEADING_SIZE = 11
const TEXT_SIZE = 8.5
const ROW_GAP = 3
const COLUMN_GAP = 8
/** Enough for every list of a statement. */
const PAGES_MAX = 200
const TEXT_LENGTH_MAX = 400

const FONTS = { regular: 'DejaVuSans.ttf', bold: 'DejaVuSans-Bold.ttf' } as const
type FontName = keyof typeof FONTS

/** Prints a document on A4. It loads fonts and compresses, so that it belongs in a thread. */
export async function printDocument(document: PrintedDocument): Promise<Buffer> {
  const pdf = new PdfDocument({
    size: 'A4',
    margin: MARGIN,
    lang: document.language,
    info: { Title: document.title, Creator: 'Parkway' },
    bufferPages: true,
  })
  const pieces: Buffer[] = []
  pdf.on('data', (piece: Buffer) => pieces.push(piece))
  const ended = new Promise<void>((resolve, reject) => {
    pdf.on('end', resolve)
    pdf.on('error', reject)
  })
  const require = createRequire(import.meta.url)
  for (const [name, file] of Object.entries(FONTS))
    pdf.registerFont(name, readFileSync(require.resolve(`dejavu-fonts-ttf/ttf/${file}`)))
  printHead(pdf, document)
  for (const table of document.tables) printTable(pdf, table)
  for (const note of document.notes) {
    setFont(pdf, 'regular', TEXT_SIZE)
    makeRoom(pdf, pdf.heightOfString(clip(note), { width: widthOf(pdf) }))
    pdf.text(clip(note), MARGIN, pdf.y + ROW_GAP, { width: widthOf(pdf) })
  }
  numberPages(pdf, document.title)
  pdf.end()
  await ended
  return Buffer.concat(pieces)
}

type Pdf = InstanceType<typeof PdfDocument>

function setFont(pdf: Pdf, name: FontName, size: number): void {
  pdf.font(name).fontSize(size)
}

function widthOf(pdf: Pdf): number {
  return pdf.page.width - 2 * MARGIN
}

function clip(text: string): string {
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX - 1)}…` : text
}

function printHead(pdf: Pdf, { title, subtitles, issuer }: PrintedDocument): void {
  const half = widthOf(pdf) / 2
  setFont(pdf, 'bold', TITLE_SIZE)
  pdf.text(clip(title), MARGIN, MARGIN, { width: half })
  setFont(pdf, 'regular', TEXT_SIZE)
  for (const line of subtitles) pdf.text(clip(line), MARGIN, pdf.y + ROW_GAP, { width: half })
  const leftEnd = pdf.y
  pdf.y = MARGIN
  for (const line of issuer)
    pdf.text(clip(line), MARGIN + half, pdf.y + ROW_GAP, { width: half, align: 'right' })
  pdf.y = Math.max(leftEnd, pdf.y) + 2 * HEADING_SIZE
}

/** Begins a page if the next piece has no room on this one. Returns whether it did. */
function makeRoom(pdf: Pdf, height: number): boolean {
  if (pdf.y + height <= pdf.page.height - MARGIN - HEADING_SIZE) return false
  if (pdf.bufferedPageRange().count >= PAGES_MAX) throw new RangeError('the document has too many pages')
  pdf.addPage()
  pdf.y = MARGIN
  return true
}

function printTable(pdf: Pdf, table: PrintedTable): void {
  setFont(pdf, 'bold', HEADING_SIZE)
  makeRoom(pdf, 5 * HEADING_SIZE)
  pdf.text(table.title, MARGIN, pdf.y, { width: widthOf(pdf) })
  pdf.y += ROW_GAP
  const titles = table.columns.map(({ title }) => title)
  printRow(pdf, table, titles, 'bold')
  for (const [index, row] of table.rows.entries())
    printRow(pdf, table, row, table.boldRows?.includes(index) === true ? 'bold' : 'regular')
  pdf.y += 1.5 * HEADING_SIZE
}

function printRow(pdf: Pdf, { columns }: PrintedTable, row: readonly string[], font: FontName): void {
  setFont(pdf, font, TEXT_SIZE)
  const cells = columns.map(({ share, isRight }, index) => ({
    text: clip(row[index] ?? ''),
    options: {
      width: share * widthOf(pdf) - COLUMN_GAP,
      align: isRight === true ? ('right' as const) : ('left' as const),
    },
  }))
  const height = Math.max(...cells.map(({ text, options }) => pdf.heightOfString(text, options)))
  makeRoom(pdf, height + ROW_GAP)
  const top = pdf.y
  let left = MARGIN
  for (const [index, { text, options }] of cells.entries()) {
    pdf.text(text, left, top, options)
    left += (columns[index]?.share ?? 0) * widthOf(pdf)
  }
  pdf.y = top + height + ROW_GAP
}

function numberPages(pdf: Pdf, title: string): void {
  const { count } = pdf.bufferedPageRange()
  for (let index = 0; index < count; index += 1) {
    pdf.switchToPage(index)
    setFont(pdf, 'regular', TEXT_SIZE)
    // Below the margin text would begin a page.
    pdf.page.margins.bottom = 0
    const text = `${clip(title)} · ${index + 1} / ${count}`
    pdf.text(text, MARGIN, pdf.page.height - MARGIN / 1.5, { width: widthOf(pdf), align: 'right' })
  }
}
