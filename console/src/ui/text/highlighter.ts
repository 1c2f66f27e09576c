import { createHighlighterCore, type HighlighterCore } from '@shikijs/core'
import { createJavaScriptRegexEngine } from '@shikijs/engine-javascript'

/** The languages of our own examples and those that models write most. */
const LANGUAGES = {
  bash: () => import('@shikijs/langs/bash'),
  css: () => import('@shikijs/langs/css'),
  go: () => import('@shikijs/langs/go'),
  html: () => import('@shikijs/langs/html'),
  java: () => import('@shikijs/langs/java'),
  javascript: () => import('@shikijs/langs/javascript'),
  json: () => import('@shikijs/langs/json'),
  python: () => import('@shikijs/langs/python'),
  rust: () => import('@shikijs/langs/rust'),
  sql: () => import('@shikijs/langs/sql'),
  typescript: () => import('@shikijs/langs/typescript'),
  yaml: () => import('@shikijs/langs/yaml'),
} as const

type Language = keyof typeof LANGUAGES

const ALIASES: Readonly<Record<string, Language>> = {
  sh: 'bash',
  shell: 'bash',
  curl: 'bash',
  js: 'javascript',
  jsx: 'javascript',
  ts: 'typescript',
  tsx: 'typescript',
  py: 'python',
  rs: 'rust',
  yml: 'yaml',
}

export interface CodeToken {
  readonly text: string
  /** A CSS colour of the theme. */
  readonly colour: string | undefined
}

let highlighter: Promise<HighlighterCore> | null = null

/** Splits code into coloured tokens, line by line. Returns null for an unknown language. */
export async function highlight(code: string, languageName: string): Promise<CodeToken[][] | null> {
  const language = findLanguage(languageName)
  if (language === null) return null
  highlighter ??= createHighlighterCore({
    themes: [THEME],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  })
  const ready = await highlighter
  await ready.loadLanguage(LANGUAGES[language]())
  const lines = ready.codeToTokensBase(code, { lang: language, theme: THEME.name })
  return lines.map((line) => line.map(({ content, color }) => ({ text: content, colour: color })))
}

function findLanguage(name: string): Language | null {
  const lower = name.toLowerCase()
  const known = Object.keys(LANGUAGES).find((language): language is Language => language === lower)
  return known ?? ALIASES[lower] ?? null
}

const rule = (name: string, ...scope: string[]) => ({
  scope,
  settings: { foreground: `var(--code-${name})` },
})

/** The colours are variables of the page, so that a switch of the theme needs no new tokens. */
const THEME = {
  name: 'console',
  type: 'light' as const,
  fg: 'var(--code-foreground)',
  bg: 'transparent',
  settings: [
    { settings: { foreground: 'var(--code-foreground)' } },
    rule('comment', 'comment', 'punctuation.definition.comment'),
    rule('string', 'string', 'string punctuation.definition'),
    rule(
      'constant',
      'constant',
      'support.type.property-name',
      'entity.name.tag',
      'variable.parameter.function-call',
    ),
    rule('keyword', 'keyword', 'storage', 'punctuation.definition.keyword'),
    rule('function', 'entity.name.function', 'support.function', 'entity.name.type', 'entity.name.command'),
  ],
}
