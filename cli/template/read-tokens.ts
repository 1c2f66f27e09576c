/** A piece of a template: text outside of actions, or a word within one. */
export type Token =
  | {
      readonly kind: 'text' | 'string' | 'name' | 'variable' | 'field' | 'number' | 'sign'
      readonly text: string
    }
  | { readonly kind: 'open' | 'close' | 'space' }

const OPEN = /\{\{(?:-(?=\s))?/g
const COMMENT = /\{\{(?:-\s+)?\/\*[\s\S]*?\*\/(?:\s+-)?\}\}/y
const CLOSE = /\s+-\}\}|\}\}/y

/** What is looked for within an action, in this order. */
const WORDS = [
  ['string', /"(?:[^"\\\n]|\\.)*"|`[^`]*`/y],
  ['number', /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/iy],
  ['variable', /\$[A-Za-z0-9_]*/y],
  ['field', /\.[A-Za-z_][A-Za-z0-9_]*/y],
  ['name', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['sign', /:=|[=|(),.]/y],
  ['space', /\s+/y],
] as const

/** Splits a template into text and the words of its actions. */
export function readTokens(template: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  let trimsNext = false
  const addText = (end: number, trimsEnd: boolean): void => {
    const text = template.slice(at, end)
    const begun = trimsNext ? text.trimStart() : text
    const trimmed = trimsEnd ? begun.trimEnd() : begun
    if (trimmed !== '') tokens.push({ kind: 'text', text: trimmed })
    trimsNext = false
  }
  while (true) {
    OPEN.lastIndex = at
    const open = OPEN.exec(template)
    if (open === null) break
    addText(open.index, open[0].endsWith('-'))
    const comment = matchAt(COMMENT, template, open.index)
    if (comment !== null) {
      at = open.index + comment.length
      trimsNext = comment.endsWith('-}}')
      continue
    }
    tokens.push({ kind: 'open' })
    at = readAction(template, open.index + open[0].length, tokens)
    trimsNext = template.startsWith('-}}', at - 3)
  }
  addText(template.length, false)
  return tokens
}

/** Reads the words of an action, and returns where it ends. */
function readAction(template: string, begin: number, tokens: Token[]): number {
  let at = begin
  while (at < template.length) {
    const close = matchAt(CLOSE, template, at)
    if (close !== null) {
      tokens.push({ kind: 'close' })
      return at + close.length
    }
    const length = readWord(template, at, tokens)
    if (length === 0) throw new Error(`"${template.slice(at, at + 10)}" is not understood`)
    at += length
  }
  throw new Error('an action has no "}}"')
}

function readWord(template: string, at: number, tokens: Token[]): number {
  for (const [kind, pattern] of WORDS) {
    const text = matchAt(pattern, template, at)
    if (text === null) continue
    tokens.push(kind === 'space' ? { kind } : { kind, text })
    return text.length
  }
  return 0
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}
