import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Permitted } from '../../../ui/permitted.tsx'
import {
  modelPricesQuery,
  withdrawModelPrice,
  type ConfiguredModel,
  type ModelPriceList,
} from '../../../api/model-settings.ts'
import { Chart } from '../../../ui/data/chart.tsx'
import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../../ui/feedback/skeleton.tsx'
import { formatPrice } from '../../../ui/format/format-price.ts'
import { formatUsd } from '../../../ui/format/format-usd.ts'
import { Button } from '../../../ui/forms/button.tsx'
import { showFailure, showToast } from '../../../ui/overlays/toasts.tsx'
import { Badge, type Tone } from '../../../ui/text/badge.tsx'
import { Time } from '../../../ui/text/time.tsx'
import { courseOfPrices } from './price-course.ts'
import { PriceDialog } from './price-dialog.tsx'
import { PRICE_UNITS } from './price-draft.ts'

const NONE: readonly ModelPriceList[] = []

/** What a model cost, costs and will cost. */
export function PriceHistory({ model }: { readonly model: ConfiguredModel }) {
  const { data, error, isPending, refetch } = useQuery(modelPricesQuery(model.id))
  const [isSetting, setIsSetting] = useState(false)
  const prices = data?.data ?? NONE
  const [nowMs] = useState(() => Date.now())
  const course = useMemo(() => courseOfPrices(prices, nowMs), [prices, nowMs])
  return (
    <section aria-labelledby="prices" className="flex flex-col gap-4 border-t border-line pt-4">
      <div className="flex items-center justify-between gap-3">
        <h3 id="prices" className="text-sm font-semibold">
          Prices
        </h3>
        <Permitted permission="gateway.manage">
          <Button icon="plus" onClick={() => setIsSetting(true)}>
            Set a price
          </Button>
        </Permitted>
      </div>
      {isPending && <SkeletonRows count={3} />}
      {error && (
        <ErrorPanel title="The prices could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      {course.series.length > 0 && prices.length > 1 && (
        <Chart
          title={`US dollars for ${PRICE_UNITS[model.price.unit]}`}
          timesSeconds={course.timesSeconds}
          series={course.series}
          formatValue={formatUsd}
          heightPx={180}
        />
      )}
      <ul
        aria-label="Price lists"
        className="flex flex-col divide-y divide-line rounded-md border border-line"
      >
        {prices.map((price) => (
          <PriceRow key={price.id} model={model} list={price} />
        ))}
      </ul>
      {isSetting && <PriceDialog model={model} onClose={() => setIsSetting(false)} />}
    </section>
  )
}

const TONES: Readonly<Record<ModelPriceList['state'], Tone>> = {
  past: 'plain',
  current: 'good',
  future: 'accent',
  withdrawn: 'plain',
}

interface PriceRowProps {
  readonly model: Pick<ConfiguredModel, 'id' | 'source'>
  readonly list: ModelPriceList
}

function PriceRow({ model, list }: PriceRowProps) {
  const queryClient = useQueryClient()
  const withdrawal = useMutation({
    mutationFn: () => withdrawModelPrice(model.id, list.id),
    onSuccess: async () => {
      await queryClient.invalidateQueries()
      showToast('The price is withdrawn', 'Requests from now on are not charged by it.')
    },
    onError: (failure) => showFailure('The price could not be withdrawn', failure),
  })
  const hasCosts = (list.costs ?? []).length > 0
  const isOverFile =
    list.state === 'current' && model.source === 'file' && (list.source === 'database' || hasCosts)
  return (
    <li className="flex flex-col gap-1 px-3 py-2 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={TONES[list.state]}>{list.state}</Badge>
        <span className="min-w-0 grow">{formatPrice(list)}</span>
        {(list.state === 'future' || isOverFile) && (
          <Permitted permission="gateway.manage">
            {' '}
            <Button kind="quiet" isBusy={withdrawal.isPending} onClick={() => withdrawal.mutate()}>
              {isOverFile ? 'Return to the file' : 'Withdraw'}
            </Button>
          </Permitted>
        )}
      </div>
      <p className="text-xs text-ink-faint">
        {list.effective_from === null ? (
          'from the file, before all others'
        ) : (
          <>
            from <Time at={list.effective_from} form="short" />
            {list.source === 'file' &&
              (hasCosts ? ', the price of the file' : ', the price of the file again')}
          </>
        )}
        {list.reason !== null && `, ${list.reason}`}
      </p>
    </li>
  )
}
