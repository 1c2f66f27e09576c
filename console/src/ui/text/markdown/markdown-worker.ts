import { marked, type Token } from 'marked'
import type { ParsedBlock } from './markdown-parser.ts'

/** More levels than people write. The parser calls itself for each, and its time grows with their square. */
const TOO_DEEP = /^(?:[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])){25}|^[ \t]{120}/m

/** Runs beside the page: a text that takes the parser long does not stop it, and is given up by ending this worker. */
self.addEventListener('message', ({ data }: MessageEvent<string>) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
  self.postMessage(parse(data))
})

/** Returns null for a text that is shown as it is. */
function parse(text: string): ParsedBlock[] | null {
  if (TOO_DEEP.test(text)) return null
  try {
    return splitIntoBlocks(text)
  } catch {
    return null
  }
}

function splitIntoBlocks(text: string): ParsedBlock[] {
  const blocks: ParsedBlock[] = []
  let pending: Token[] = []
  const flush = (): void => {
    if (pending.length > 0) blocks.push({ kind: 'html', html: marked.parser(pending) })
    pending = []
  }
  for (const token of marked.lexer(text, { gfm: true, breaks: true })) {
    if (token.type !== 'code') {
      pending.push(token)
      continue
    }
    flush()
    blocks.push({ kind: 'code', code: String(token['text']), language: String(token['lang'] ?? '') })
  }
  flush()
  return blocks
}

// Loaded.
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
self.postMessage(null)
