import type { PriceDifference } from '../../../api/model-settings.ts'
import { formatShare } from '../../../ui/format/format-count.ts'
import { formatUsd } from '../../../ui/format/format-usd.ts'
import { Button } from '../../../ui/forms/button.tsx'
import { CheckboxField } from '../../../ui/forms/checkbox-field.tsx'
import { Badge } from '../../../ui/text/badge.tsx'

interface DifferenceListProps {
  readonly title: string
  readonly note: string
  readonly differences: readonly PriceDifference[]
  /** Those that are chosen together. Null: nothing can be chosen. */
  readonly usual: readonly PriceDifference[] | null
  readonly chosen: ReadonlySet<string>
  readonly onChoose: (models: readonly string[], isChosen: boolean) => void
}

/** Differences of one kind, each to be chosen. */
export function DifferenceList(props: DifferenceListProps) {
  const { title, note, differences, usual, chosen, onChoose } = props
  if (differences.length === 0) return null
  const isAllChosen = usual?.every(({ model }) => chosen.has(model)) === true
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div>
          <h3 className="text-sm font-semibold">
            {title} ({differences.length})
          </h3>
          <p className="text-xs text-ink-faint">{note}</p>
        </div>
        {usual !== null && usual.length > 0 && (
          <Button
            kind="quiet"
            onClick={() =>
              onChoose(
                usual.map(({ model }) => model),
                !isAllChosen,
              )
            }
          >
            {isAllChosen ? 'Choose none' : 'Choose all'}
          </Button>
        )}
      </div>
      <ul
        tabIndex={0}
        aria-label={`${title} models`}
        className="flex max-h-[480px] flex-col divide-y divide-line overflow-y-auto rounded-md border border-line px-3"
      >
        {differences.map((one) => (
          <li key={`${one.provider} ${one.model}`} className="py-2">
            {usual === null ? (
              <Name difference={one} />
            ) : (
              <CheckboxField
                label={<Name difference={one} />}
                isChecked={chosen.has(one.model)}
                onChange={(isChosen) => onChoose([one.model], isChosen)}
              />
            )}
            <Amounts difference={one} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Name({
  difference: { model, provider, is_suspicious: isSuspicious },
}: {
  readonly difference: PriceDifference
}) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 text-sm">
      <span className="font-medium break-all">{model}</span>
      <span className="text-xs text-ink-faint">{provider}</span>
      {isSuspicious && <Badge tone="warn">more than fivefold</Badge>}
    </span>
  )
}

function Amounts({ difference: { changes, price, status } }: { readonly difference: PriceDifference }) {
  if (status === 'gone') return null
  const lines =
    status === 'new'
      ? Object.entries(price ?? {}).flatMap(([field, value]) =>
          typeof value === 'number' ? [{ field, from: null, to: value }] : [],
        )
      : changes
  return (
    <ul className="flex flex-wrap gap-x-5 gap-y-0.5 pl-6.5 text-xs text-ink-soft">
      {lines.map(({ field, from, to }) => (
        <li key={field} className="tabular">
          {nameOf(field)}: {from === null ? '' : `${formatUsd(from)} → `}
          {formatUsd(to)}
          {from !== null &&
            from > 0 &&
            ` (${to >= from ? '+' : '−'}${formatShare(Math.abs(to - from) / from)})`}
        </li>
      ))}
    </ul>
  )
}

/** `cached_input_usd_per_1m` becomes `cached input per 1M`. */
function nameOf(field: string): string {
  return field
    .replace('_usd_per_1m', ' per 1M')
    .replace('_usd', '')
    .replace(/^usd$/, 'a unit')
    .replaceAll('_', ' ')
}
