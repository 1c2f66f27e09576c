import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  takePrices,
  type PriceDifference,
  type PriceImport,
  type PriceSource,
} from '../../../api/model-settings.ts'
import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { formatCount, formatCountOf } from '../../../ui/format/format-count.ts'
import { Button } from '../../../ui/forms/button.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { Section } from '../../../ui/layout/section.tsx'
import { showToast } from '../../../ui/overlays/toasts.tsx'
import { DifferenceList } from './difference-list.tsx'

interface ImportDifferencesProps {
  readonly source: PriceSource
  readonly found: PriceImport
  readonly onTaken: () => void
}

/** The API takes so many at once. */
const TAKEN_MAX = 500

/** How a list differs: what is changed, new, gone and not believed, and what of it is taken. */
export function ImportDifferences({ source, found, onTaken }: ImportDifferencesProps) {
  const queryClient = useQueryClient()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [from, setFrom] = useState('')
  const { digest, differences, problems, same_count: sameCount } = found
  const of = (status: PriceDifference['status']) => differences.filter((one) => one.status === status)
  const [changed, added, gone] = [of('changed'), of('new'), of('gone')]
  const taking = useMutation({
    mutationFn: () =>
      takePrices({
        ...source,
        digest,
        models: [...chosen],
        ...(from === '' ? {} : { effective_from: new Date(from).toISOString() }),
      }),
    onSuccess: async (taken) => {
      await queryClient.invalidateQueries()
      showToast(
        'The prices are applied',
        `${formatCount(taken.changed.length)} changed, ${formatCount(taken.added.length)} added.`,
      )
      onTaken()
      setChosen(new Set())
    },
  })
  const choose = (models: readonly string[], isChosen: boolean): void =>
    setChosen((old) => {
      const next = new Set(old)
      for (const model of models)
        if (isChosen) next.add(model)
        else next.delete(model)
      return next
    })
  const list = { chosen, onChoose: choose }
  return (
    <Section title="Differences">
      <div className="flex flex-col gap-6">
        <p className="text-sm text-ink-soft">
          {formatCountOf(changed.length, 'price')} changed, {formatCount(added.length)} new,{' '}
          {formatCount(gone.length)} gone, {formatCount(problems.length)} not believed,{' '}
          {formatCount(sameCount)} the same.
        </p>
        <DifferenceList
          title="Changed"
          note="A price that changes more than fivefold is marked, and only taken if you choose it."
          differences={changed}
          usual={changed.filter((one) => !one.is_suspicious)}
          {...list}
        />
        <DifferenceList
          title="New"
          note="Models that configured providers sell and the gateway does not have."
          differences={added}
          usual={added}
          {...list}
        />
        <DifferenceList
          title="Gone"
          note="The list has other models of the provider, and not these any more. Nothing is done about them."
          differences={gone}
          usual={null}
          {...list}
        />
        <Problems problems={problems} />
        {changed.length + added.length > 0 && (
          <div className="flex flex-wrap items-end justify-between gap-4 border-t border-line pt-4">
            <TextField
              label="Changed prices are charged from"
              type="datetime-local"
              hint="In your time zone. Leave it empty for now."
              value={from}
              onChange={setFrom}
            />
            <Button
              kind="primary"
              isBusy={taking.isPending}
              disabled={chosen.size === 0 || chosen.size > TAKEN_MAX}
              onClick={() => taking.mutate()}
            >
              {chosen.size > TAKEN_MAX
                ? `Choose at most ${TAKEN_MAX}`
                : `Take ${formatCountOf(chosen.size, 'model')}`}
            </Button>
          </div>
        )}
        {taking.error && <ErrorPanel title="No price was applied" error={taking.error} />}
      </div>
    </Section>
  )
}

/** More are not read one by one. */
const PROBLEMS_SHOWN = 200

function Problems({ problems }: { readonly problems: PriceImport['problems'] }) {
  if (problems.length === 0) return null
  return (
    <details>
      <summary className="cursor-pointer text-sm font-semibold">
        Not believed ({formatCount(problems.length)})
      </summary>
      <p className="py-1 text-xs text-ink-faint">These entries of the list are never used.</p>
      <ul
        tabIndex={0}
        aria-label="Suspicious entries"
        className="flex max-h-72 flex-col gap-1 overflow-y-auto text-sm"
      >
        {problems.slice(0, PROBLEMS_SHOWN).map(({ key, reason }, index) => (
          <li key={index} className="break-words">
            <span className="font-mono text-xs">{key}</span> <span className="text-ink-soft">{reason}</span>
          </li>
        ))}
      </ul>
      {problems.length > PROBLEMS_SHOWN && (
        <p className="pt-1 text-xs text-ink-faint">
          and {formatCount(problems.length - PROBLEMS_SHOWN)} more
        </p>
      )}
    </details>
  )
}
