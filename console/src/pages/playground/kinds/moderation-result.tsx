import type { Schemas } from '../../../api/client.ts'
import { FixedTable } from '../../../ui/data/fixed-table.tsx'
import { formatShare } from '../../../ui/format/format-count.ts'
import { Badge } from '../../../ui/text/badge.tsx'

/** What a text may be harmful for, the likeliest first. */
export function ModerationResult({ answer }: { readonly answer: Schemas['Moderation'] }) {
  const [result] = answer.results
  if (result === undefined) return null
  const scores: [string, number][] = Object.entries(result.category_scores).map(([name, score]) => [
    name,
    score,
  ])
  return (
    <div className="flex flex-col gap-3">
      <p>{result.flagged ? <Badge tone="bad">flagged</Badge> : <Badge tone="good">not flagged</Badge>}</p>
      <FixedTable
        label="Categories"
        reason="The figures of one answer, the likeliest first."
        caption="How sure the model is, in per cent"
        className="w-full max-w-md"
      >
        <tbody>
          {scores
            .toSorted(([, one], [, other]) => other - one)
            .map(([name, score]) => (
              <tr key={name} className="border-t border-line">
                <th scope="row" className="py-1.5 text-left font-normal">
                  {name}
                </th>
                <td className="tabular text-right">{formatShare(score)}</td>
              </tr>
            ))}
        </tbody>
      </FixedTable>
    </div>
  )
}
