import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import { promoCodesQuery, type PromoCode } from '../../api/operator.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatCount, formatCountOf } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'
import { CodeSheet } from './code-sheet.tsx'
import { CodeState, codeStateOf } from './code-state.tsx'
import { NewCodeDialog } from './new-code-dialog.tsx'

const route = getRouteApi('/shell/promo-codes')

export function PromoCodesPage() {
  const codes = useInfiniteQuery(promoCodesQuery())
  const [isMaking, setIsMaking] = useState(false)
  const { code: openedId } = route.useSearch()
  const navigate = route.useNavigate()
  const open = ({ id }: PromoCode): void => void navigate({ search: { code: id }, ...AS_DETAIL })
  const close = useCloseDetail(() => void navigate({ search: {}, replace: true }))
  const opened = codes.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === openedId)
  const newCode = (
    <Permitted permission="gateway.manage">
      <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
        New code
      </Button>
    </Permitted>
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
        tools={{ id: 'promo_codes' }}
        query={codes}
        columns={columnsOf(open)}
        rowId={({ id }) => id}
        onOpen={open}
        empty={
          <EmptyState icon="tag" title="No promo code yet" action={newCode}>
            A code gives credit to each account that redeems it.
          </EmptyState>
        }
      />
      {isMaking && <NewCodeDialog onClose={() => setIsMaking(false)} />}
      {opened && <CodeSheet code={opened} onClose={close} />}
    </Page>
  )
}

function columnsOf(onOpen: (code: PromoCode) => void): Column<PromoCode>[] {
  return [
    {
      id: 'code',
      value: ({ code }) => code,
      header: 'Code',
      render: (code) => <RowLink onOpen={() => onOpen(code)}>{code.code}</RowLink>,
    },
    {
      id: 'state',
      header: 'State',
      value: codeStateOf,
      width: '104px',
      render: (code) => <CodeState code={code} />,
    },
    {
      id: 'redeemed',
      value: ({ redemptions }) => redemptions,
      header: 'Redeemed',
      width: '128px',
      align: 'right',
      isMinor: true,
      render: ({ redemptions, redemptions_max: most }) =>
        `${formatCount(redemptions)}${most === null ? '' : ` of ${formatCount(most)}`}`,
    },
    {
      id: 'expires',
      value: ({ expires_at: at }) => at,
      header: 'Expires',
      width: '120px',
      isMinor: true,
      render: ({ expires_at: at }) => <Time at={at} />,
    },
    {
      id: 'amount',
      value: ({ amount_usd: usd }) => usd,
      header: 'Credit',
      width: '96px',
      align: 'right',
      render: ({ amount_usd: amountUsd }) => formatUsd(amountUsd),
    },
    {
      id: 'lasts',
      value: ({ credit_expires_in_days: days }) => days,
      header: 'Credit lasts',
      width: '120px',
      align: 'right',
      isMinor: true,
      render: ({ credit_expires_in_days: days }) => (days === null ? 'for ever' : formatCountOf(days, 'day')),
    },
  ]
}
