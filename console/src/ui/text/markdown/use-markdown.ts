import { useEffect, useRef, useState } from 'react'
import type { ParsedBlock } from './markdown-parser.ts'
import { splitMarkdown } from './split-markdown.ts'

export type MarkdownBlock = ParsedBlock | { readonly kind: 'text'; readonly text: string }

interface Parsed {
  readonly section: string
  /** Null for a section that stays as it is. */
  readonly blocks: readonly ParsedBlock[] | null
}

const LENGTH_MAX = 200_000

/**
 * Returns the blocks of a text that may grow. Sections are parsed once, beside the page; what is not parsed yet is plain text. While
 * a section grows, its parsed beginning stays.
 */
export function useMarkdown(text: string): readonly MarkdownBlock[] {
  const [parsed, setParsed] = useState<ReadonlyMap<number, Parsed>>(new Map())
  const isAsking = useRef(false)
  const isGone = useRef(false)
  const sections = text.length > LENGTH_MAX ? [] : splitMarkdown(text)

  useEffect(() => {
    isGone.current = false
    return () => {
      isGone.current = true
    }
  }, [])
  useEffect(() => {
    const index = sections.findIndex((section, at) => !isParsed(parsed.get(at), section))
    const section = sections[index]
    if (section === undefined || isAsking.current) return
    isAsking.current = true
    void import('./markdown-parser.ts')
      .then(({ parseMarkdown }) => parseMarkdown(section))
      .catch(() => null)
      .then((blocks) => {
        isAsking.current = false
        if (isGone.current) return
        setParsed((old) => new Map(old).set(index, { section, blocks }))
      })
  })

  if (sections.length === 0) return [{ kind: 'text', text }]
  return sections.flatMap((section, index) => blocksOf(section, parsed.get(index)))
}

/** A section that was given up is not parsed again when it has become longer. */
function isParsed(parsed: Parsed | undefined, section: string): boolean {
  if (parsed === undefined) return false
  return parsed.section === section || (parsed.blocks === null && section.startsWith(parsed.section))
}

function blocksOf(section: string, parsed: Parsed | undefined): readonly MarkdownBlock[] {
  if (!parsed?.blocks || !section.startsWith(parsed.section)) return [{ kind: 'text', text: section }]
  const rest = section.slice(parsed.section.length)
  return rest.trim() === '' ? parsed.blocks : [...parsed.blocks, { kind: 'text', text: rest }]
}
