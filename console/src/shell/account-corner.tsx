import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { accountQuery } from '../api/account.ts'
import { classNames } from '../ui/class-names.ts'
import { Skeleton } from '../ui/feedback/skeleton.tsx'
import { formatUsd } from '../ui/format/format-usd.ts'
import { Icon } from '../ui/icon.tsx'

const AccountMenu = lazy(async () => ({ default: (await import('./account-menu.tsx')).AccountMenu }))

/** Account and balance, with the theme and signing out behind them. */
export function AccountCorner() {
  const { data: account } = useQuery(accountQuery)
  const [wasOpened, setWasOpened] = useState(false)
  const trigger = (
    <button
      type="button"
      aria-haspopup="menu"
      className="flex h-8 min-w-0 items-center gap-1.5 rounded-md px-2 text-sm text-ink-soft hover:bg-hover hover:text-ink"
      onClick={() => setWasOpened(true)}
    >
      <span className="max-w-40 truncate max-sm:max-w-24">{account?.name ?? 'Account'}</span>
      {account && <EnvironmentMark env={account.key.env} />}
      <Icon name="down" />
    </button>
  )
  return (
    <div className="flex min-w-0 items-center gap-3">
      {account === undefined ? (
        <Skeleton className="h-5 w-16" />
      ) : account.balance_usd === null ? null : (
        <span
          className={classNames(
            'tabular text-sm font-medium whitespace-nowrap',
            // A phone has no room for it beside the project.
            account.session?.has_projects && 'max-sm:hidden',
          )}
          title="Balance"
        >
          <span className="sr-only">Balance </span>
          {formatUsd(account.balance_usd)}
        </span>
      )}
      {wasOpened ? (
        <Suspense fallback={trigger}>
          <AccountMenu trigger={trigger} />
        </Suspense>
      ) : (
        trigger
      )}
    </div>
  )
}

/** Production keys reach real models and real money, so one should see which key one signed in with. */
function EnvironmentMark({ env }: { readonly env: string }) {
  return (
    <span
      title={`Signed in with a key of the environment ${env}`}
      className={classNames(
        'rounded px-1 text-2xs',
        env === 'prod' ? 'bg-warn-soft text-warn' : 'bg-sunken text-ink-faint',
      )}
    >
      {env}
    </span>
  )
}
