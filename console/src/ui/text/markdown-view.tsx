import { useEffect, useState } from 'react'
import { CodeBlock } from './code-block.tsx'
import type { MarkdownBlock } from './render-markdown.ts'

type Render = (text: string) => MarkdownBlock[]

let loaded: Render | null = null

/** A text that a model wrote. Shown as it is until the renderer has been loaded. */
export function MarkdownView({ text }: { readonly text: string }) {
  const render = useRenderer()
  if (render === null) return <div className="whitespace-pre-wrap">{text}</div>
  return (
    <div className="markdown flex min-w-0 flex-col gap-3 break-words">
      {render(text).map((block, index) =>
        block.kind === 'code' ? (
          <CodeBlock key={index} code={block.code} language={block.language} />
        ) : block.kind === 'text' ? (
          <div key={index} className="whitespace-pre-wrap">
            {block.text}
          </div>
        ) : (
          // The renderer has removed everything but text, links and structure.
          <div key={index} dangerouslySetInnerHTML={{ __html: block.html }} />
        ),
      )}
    </div>
  )
}

function useRenderer(): Render | null {
  const [render, setRender] = useState<Render | null>(() => loaded)
  useEffect(() => {
    if (loaded !== null) return
    void import('./render-markdown.ts').then(({ renderMarkdown }) => {
      loaded = renderMarkdown
      setRender(() => renderMarkdown)
    })
  }, [])
  return render
}
