import { formatNumber } from '../../../ui/format/format-number.ts'

export interface RerankAnswer {
  readonly results: readonly { readonly index: number; readonly relevance_score: number }[]
}

interface RerankResultProps {
  readonly answer: RerankAnswer
  readonly documents: readonly string[]
}

/** The documents, the most relevant first. */
export function RerankResult({ answer, documents }: RerankResultProps) {
  return (
    <ol className="flex flex-col gap-3">
      {answer.results.map(({ index, relevance_score: score }) => (
        <li key={index} className="flex flex-col gap-1">
          <div className="flex justify-between gap-4 text-sm">
            <span className="min-w-0 break-words">{documents[index]}</span>
            <span className="tabular">{formatNumber(score, 3)}</span>
          </div>
          <meter
            aria-label={`Relevance of document ${index + 1}`}
            min={0}
            max={1}
            value={score}
            className="h-1.5 w-full"
          />
        </li>
      ))}
    </ol>
  )
}
