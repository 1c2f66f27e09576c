import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { accountQuery } from '../api/account.ts'
import { Icon } from '../ui/icon.tsx'
import { permittedPages } from './navigation.ts'

/** The links to all pages that the key of the session may use. */
export function NavigationList({ onChoose }: { readonly onChoose?: () => void }) {
  const { data: account } = useQuery(accountQuery)
  return (
    <nav aria-label="Pages" className="flex flex-col gap-4">
      {permittedPages(account ?? USUAL_RIGHTS).map(({ label, entries }) => (
        <div key={label ?? ''} className="flex flex-col gap-0.5">
          {label && <p className="px-2 pb-1 text-2xs font-medium text-ink-faint">{label}</p>}
          {entries.map((entry) => (
            <Link
              key={entry.label}
              to={entry.to}
              onClick={onChoose}
              activeOptions={{ exact: entry.to === '/', includeSearch: false }}
              className="flex h-8 items-center gap-2.5 rounded-md px-2 text-sm text-ink-soft transition-colors hover:bg-hover hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent max-sm:h-10"
            >
              <Icon name={entry.icon} />
              {entry.label}
            </Link>
          ))}
        </div>
      ))}
    </nav>
  )
}

/** Of most sessions. Shown until the account is known. */
const USUAL_RIGHTS = {
  session: { user: null, permissions: ['models.use', 'deployments.read', 'organization.read'] },
}
