import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import { disablePromoCode, redemptionsQuery, type PromoCode, type Redemption } from '../../api/operator.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { Time } from '../../ui/text/time.tsx'
import { CodeState } from './code-state.tsx'

interface CodeSheetProps {
  readonly code: PromoCode
  readonly onClose: () => void
}

/** One promo code: what it gives, who redeemed it, and its end. */
export function CodeSheet({ code, onClose }: CodeSheetProps) {
  const queryClient = useQueryClient()
  const [isDisabling, setIsDisabling] = useState(false)
  return (
    <Sheet title={code.code} isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-6">
        <DetailsList details={detailsOf(code)} />
        {code.disabled_at === null && (
          <Permitted permission="gateway.manage">
            <div className="flex flex-wrap items-center justify-between gap-3 border-t border-line pt-4">
              <p className="text-sm text-ink-soft">Credit that a code gave stays when it is disabled.</p>
              <Button kind="danger" onClick={() => setIsDisabling(true)}>
                Disable
              </Button>
            </div>
          </Permitted>
        )}
        <section aria-labelledby="redemptions" className="flex flex-col gap-3 border-t border-line pt-4">
          <h3 id="redemptions" className="text-sm font-semibold">
            Redemptions
          </h3>
          <Redemptions codeId={code.id} />
        </section>
      </div>
      {isDisabling && (
        <ConfirmDialog
          title={`Disable ${code.code}?`}
          description="Nobody can redeem it from then on. Credit that it gave stays."
          action="Disable the code"
          onConfirm={async () => {
            await disablePromoCode(code.id)
            await queryClient.invalidateQueries({ queryKey: ['promo-codes'] })
            showToast('The code is disabled', code.code)
          }}
          onClose={() => setIsDisabling(false)}
        />
      )}
    </Sheet>
  )
}

function detailsOf(code: PromoCode) {
  const { redemptions_max: most, credit_expires_in_days: days } = code
  return {
    State: <CodeState code={code} />,
    Code: <CopyableId id={code.code} label="code" />,
    Id: <CopyableId id={code.id} label="id of the code" />,
    Credit: `${formatUsd(code.amount_usd)}, promotional`,
    'Credit lasts': days === null ? 'for ever' : `${formatCount(days)} days from redemption`,
    Redeemed: `${formatCount(code.redemptions)} of ${most === null ? 'any number' : formatCount(most)}`,
    'By one account': `at most ${formatCount(code.redemptions_per_account_max)}`,
    Expires: code.expires_at === null ? 'never' : <Time at={code.expires_at} form="short" />,
    Made: <Time at={code.created_at} form="short" />,
    Disabled: code.disabled_at === null ? null : <Time at={code.disabled_at} form="short" />,
  }
}

function Redemptions({ codeId }: { readonly codeId: string }) {
  const redemptions = useInfiniteQuery(redemptionsQuery(codeId))
  return (
    <PagedTable
      label="Redemptions"
      tools={{ id: 'redemptions' }}
      query={redemptions}
      columns={COLUMNS}
      rowId={({ id }) => id}
      heightClass="max-h-96"
      empty={
        <EmptyState icon="tag" title="Nobody has redeemed it yet">
          Pass the code on: it is redeemed on the page Billing.
        </EmptyState>
      }
    />
  )
}

const COLUMNS: readonly Column<Redemption>[] = [
  {
    id: 'time',
    header: 'Time',
    value: ({ redeemed_at: at }) => at,
    width: '128px',
    render: ({ redeemed_at: at }) => <Time at={at} form="short" />,
  },
  {
    id: 'account',
    header: 'Account',
    value: ({ account_name: name }) => name,
    render: ({ account_id: id, account_name: name }) => (
      <Link to="/accounts/$id" params={{ id }} className="font-medium hover:text-accent hover:underline">
        {name}
      </Link>
    ),
  },
  {
    id: 'amount',
    header: 'Credit',
    value: ({ amount_usd: usd }) => usd,
    width: '96px',
    align: 'right',
    render: ({ amount_usd: amountUsd }) => formatUsd(amountUsd),
  },
]
