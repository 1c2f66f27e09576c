import type { Schemas } from '../../../api/client.ts'
import { cosineOf } from './cosine-of.ts'
import { FixedTable } from '../../../ui/data/fixed-table.tsx'
import { formatNumber } from '../../../ui/format/format-number.ts'

interface EmbeddingResultProps {
  readonly answer: Schemas['EmbeddingList']
  readonly texts: readonly string[]
}

/** How alike the texts are: the cosine of each pair. */
export function EmbeddingResult({ answer, texts }: EmbeddingResultProps) {
  const vectors = answer.data.map(({ embedding }) => (Array.isArray(embedding) ? embedding : []))
  return (
    <FixedTable
      label="Cosine of each pair"
      reason="A matrix of texts, in the order in which they were written."
      caption={`Cosine of each pair, from −1 to 1. Vectors of ${vectors[0]?.length ?? 0} dimensions.`}
    >
      <thead>
        <tr>
          <th scope="col" className="pr-4 text-left text-xs font-medium text-ink-soft">
            Text
          </th>
          {texts.map((_, index) => (
            <th key={index} scope="col" className="px-3 text-right text-xs font-medium text-ink-soft">
              {index + 1}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {texts.map((text, row) => (
          <tr key={row} className="border-t border-line">
            <th scope="row" className="max-w-72 truncate py-2 pr-4 text-left font-normal">
              {row + 1}. {text}
            </th>
            {texts.map((_, column) => (
              <td key={column} className="tabular px-3 text-right">
                {formatNumber(cosineOf(vectors[row] ?? [], vectors[column] ?? []), 3)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </FixedTable>
  )
}
