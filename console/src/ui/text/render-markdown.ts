import DOMPurify from 'dompurify'
import { marked, type Token } from 'marked'

export type MarkdownBlock =
  | { readonly kind: 'html'; readonly html: string }
  | { readonly kind: 'code'; readonly code: string; readonly language: string }
  | { readonly kind: 'text'; readonly text: string }

const LENGTH_MAX = 200_000
/** More levels than people write. The parser calls itself for each, and its time grows with their square. */
const TOO_DEEP = /^(?:[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])){25}|^[ \t]{120}/m
/** The parser tries every pair of these characters. */
const LONG_MARKS = /[*_~]{500}/

/**
 * Splits a text of a model into blocks of safe HTML and of code. Models repeat what others wrote, so nothing that loads,
 * runs or submits survives. A text that is too much for the parser stays as it is.
 */
export function renderMarkdown(text: string): MarkdownBlock[] {
  const asText: MarkdownBlock[] = [{ kind: 'text', text }]
  if (text.length > LENGTH_MAX || TOO_DEEP.test(text) || LONG_MARKS.test(text)) return asText
  try {
    return splitIntoBlocks(text)
  } catch {
    return asText
  }
}

function splitIntoBlocks(text: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = []
  let pending: Token[] = []
  const flush = (): void => {
    if (pending.length > 0) blocks.push({ kind: 'html', html: toSafeHtml(pending) })
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

function toSafeHtml(tokens: Token[]): string {
  return purifier.sanitize(marked.parser(tokens), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ['href', 'title', 'start', 'align', 'colspan', 'rowspan'],
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  })
}

const TAGS =
  'a p br hr strong em del code pre blockquote ul ol li h1 h2 h3 h4 h5 h6 table thead tbody tr th td sub sup'.split(
    ' ',
  )

const purifier = DOMPurify(window)
purifier.addHook('afterSanitizeAttributes', (element) => {
  if (element.tagName !== 'A') return
  element.setAttribute('target', '_blank')
  element.setAttribute('rel', 'noopener noreferrer')
})
