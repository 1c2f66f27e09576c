import { sanitizeHtml } from './sanitize-html.ts'

/** A part of a parsed text. Its HTML comes from the text and is not safe. */
export type ParsedBlock =
  | { readonly kind: 'html'; readonly html: string }
  | { readonly kind: 'code'; readonly code: string; readonly language: string }

/** Loading the parser takes long on a busy machine or a slow network. */
const START_MS_MAX = 30_000
const PARSE_MS_MAX = 1_000
const SECTION_LENGTH_MAX = 10_000
/** Code takes no time to parse. */
const CODE_LENGTH_MAX = 100_000

let starting: Promise<Worker | null> | null = null
let last: Promise<unknown> = Promise.resolve()

/** Parses a section of Markdown into code and safe HTML, one section after the other. Null for one that is too much for the parser. */
export function parseMarkdown(section: string): Promise<readonly ParsedBlock[] | null> {
  const isCode = /^ {0,3}(?:```|~~~)/.test(section)
  if (section.length > (isCode ? CODE_LENGTH_MAX : SECTION_LENGTH_MAX)) return Promise.resolve(null)
  const parsed = last.then(() => askWorker(section))
  last = parsed
  return parsed.then((blocks) => blocks?.map(makeSafe) ?? null)
}

async function askWorker(section: string): Promise<readonly ParsedBlock[] | null> {
  starting ??= startWorker()
  const worker = await starting
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
  worker?.postMessage(section)
  const blocks = worker === null ? undefined : await nextMessage(worker, PARSE_MS_MAX)
  if (blocks !== undefined) return blocks
  worker?.terminate()
  starting = null
  return null
}

/** The worker tells when it has been loaded, so that loading does not count as parsing. */
async function startWorker(): Promise<Worker | null> {
  const worker = new Worker(new URL('./markdown-worker.ts', import.meta.url), { type: 'module' })
  return (await nextMessage(worker, START_MS_MAX)) === undefined ? null : worker
}

/** Returns undefined if the worker fails or takes longer. */
function nextMessage(worker: Worker, timeoutMs: number): Promise<readonly ParsedBlock[] | null | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), timeoutMs)
    const end = (blocks: readonly ParsedBlock[] | null | undefined): void => {
      clearTimeout(timer)
      resolve(blocks)
    }
    const once = { once: true }
    worker.addEventListener(
      'message',
      ({ data }: MessageEvent<readonly ParsedBlock[] | null>) => end(data),
      once,
    )
    worker.addEventListener('error', () => end(undefined), once)
  })
}

function makeSafe(block: ParsedBlock): ParsedBlock {
  return block.kind === 'html' ? { kind: 'html', html: sanitizeHtml(block.html) } : block
}
