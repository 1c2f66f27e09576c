import { useEffect, useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import type { CodeToken } from './highlighter.ts'

interface CodeBlockProps {
  readonly code: string
  readonly language: string
  /** What the code is, for screen readers. */
  readonly label?: string | undefined
}

/** Longer code is shown without colours, because they would cost more than they explain. */
const HIGHLIGHTED_LENGTH_MAX = 50_000

/** Code with colours, when they have been loaded, and a button that copies it. */
export function CodeBlock({ code, language, label = 'Code' }: CodeBlockProps) {
  const lines = useHighlighted(code, language)
  return (
    <div className="flex min-w-0 items-start rounded-md border border-line bg-sunken">
      <pre
        tabIndex={0}
        aria-label={label}
        className="max-h-[32rem] min-w-0 grow overflow-auto py-3 pr-2 pl-4 font-mono text-xs/5 -outline-offset-2"
      >
        <code>{lines === null ? code : lines.map(renderLine)}</code>
      </pre>
      <CopyButton text={code} label="Copy code" className="m-1.5" />
    </div>
  )
}

function renderLine(tokens: readonly CodeToken[], lineIndex: number) {
  return (
    <span key={lineIndex}>
      {tokens.map(({ text, colour }, index) => (
        <span key={index} style={{ color: colour }}>
          {text}
        </span>
      ))}
      {'\n'}
    </span>
  )
}

function useHighlighted(code: string, language: string): CodeToken[][] | null {
  const [shown, setShown] = useState<{ code: string; lines: CodeToken[][] | null } | null>(null)
  useEffect(() => {
    if (code.length > HIGHLIGHTED_LENGTH_MAX) return
    let isCurrent = true
    void import('./highlighter.ts')
      .then(({ highlight }) => highlight(code, language))
      .then((lines) => isCurrent && setShown({ code, lines }))
      // Code without colours is still code.
      .catch(() => {})
    return () => {
      isCurrent = false
    }
  }, [code, language])
  return shown?.code === code ? shown.lines : null
}
