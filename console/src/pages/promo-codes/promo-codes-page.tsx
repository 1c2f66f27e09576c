import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { disablePromoCode, promoCodesQuery, type PromoCode } from '../../api/operator.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { Time } from '../../ui/text/time.tsx'
import { NewCodeDialog } from './new-code-dialog.tsx'

export function PromoCodesPage() {
  const queryClient = useQueryClient()
  const codes = useInfiniteQuery(promoCodesQuery())
  const [isMaking, setIsMaking] = useState(false)
  const [disabling, setDisabling] = useState<PromoCode | null>(null)
  const newCode = (
    <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
      New code
    </Button>
  )
  return (
    <Page>
      <PageHeader
        title="Promo codes"
        description="Codes that give promotional credit to accounts."
        actions={newCode}
      />
      <PagedTable
        label="Promo codes"
        query={codes}
        columns={columnsOf(setDisabling)}
        rowId={({ id }) => id}
        empty={
          <EmptyState icon="tag" title="No promo code yet" action={newCode}>
            A code gives credit to each account that redeems it.
          </EmptyState>
        }
      />
      {isMaking && <NewCodeDialog onClose={() => setIsMaking(false)} />}
      {disabling && (
        <ConfirmDialog
          title={`Disable ${disabling.code}?`}
          description="Nobody can redeem it from then on. Credit that it gave stays."
          action="Disable the code"
          onConfirm={async () => {
            await disablePromoCode(disabling.id)
            await queryClient.invalidateQueries({ queryKey: ['promo-codes'] })
          }}
          onClose={() => setDisabling(null)}
        />
      )}
    </Page>
  )
}

function columnsOf(onDisable: (code: PromoCode) => void): Column<PromoCode>[] {
  return [
    { id: 'code', header: 'Code', render: ({ code }) => <CopyableId id={code} label="code" /> },
    {
      id: 'state',
      header: 'State',
      width: '104px',
      render: ({ disabled_at: at }) => (
        <Badge tone={at === null ? 'good' : 'plain'}>{at === null ? 'active' : 'disabled'}</Badge>
      ),
    },
    {
      id: 'redeemed',
      header: 'Redeemed',
      width: '128px',
      align: 'right',
      isMinor: true,
      render: ({ redemptions, redemptions_max: most }) =>
        `${formatCount(redemptions)}${most === null ? '' : ` of ${formatCount(most)}`}`,
    },
    {
      id: 'expires',
      header: 'Expires',
      width: '120px',
      isMinor: true,
      render: ({ expires_at: at }) => <Time at={at} />,
    },
    {
      id: 'amount',
      header: 'Credit',
      width: '96px',
      align: 'right',
      render: ({ amount_usd: amountUsd }) => formatUsd(amountUsd),
    },
    {
      id: 'disable',
      header: 'Action',
      width: '112px',
      align: 'right',
      render: (code) =>
        code.disabled_at === null && (
          <Button kind="quiet" onClick={() => onDisable(code)}>
            Disable
          </Button>
        ),
    },
  ]
}
