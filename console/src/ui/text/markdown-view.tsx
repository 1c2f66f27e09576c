import { CodeBlock } from './code-block.tsx'
import { useMarkdown } from './markdown/use-markdown.ts'

/** A text that a model wrote. What has not been parsed, or takes too long to, is shown as it is. */
export function MarkdownView({ text }: { readonly text: string }) {
  return (
    <div className="markdown flex min-w-0 flex-col gap-3 break-words">
      {useMarkdown(text).map((block, index) =>
        block.kind === 'code' ? (
          <CodeBlock key={index} code={block.code} language={block.language} />
        ) : block.kind === 'text' ? (
          <div key={index} className="whitespace-pre-wrap">
            {block.text}
          </div>
        ) : (
          // The sanitizer has removed everything but text, links and structure.
          <div key={index} dangerouslySetInnerHTML={{ __html: block.html }} />
        ),
      )}
    </div>
  )
}
