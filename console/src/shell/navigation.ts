import type { LinkProps } from '@tanstack/react-router'
import type { IconName } from '../ui/icon.tsx'

interface NavigationEntry {
  readonly label: string
  readonly to: NonNullable<LinkProps['to']>
  readonly icon: IconName
  /** The scope that a key needs for the page. */
  readonly scope: 'any' | 'inference' | 'manage' | 'admin'
}

interface NavigationGroup {
  readonly label: string | null
  readonly entries: readonly NavigationEntry[]
}

/** Every page in the order of the navigation. */
const NAVIGATION: readonly NavigationGroup[] = [
  {
    label: null,
    entries: [
      { label: 'Home', to: '/', icon: 'home', scope: 'any' },
      { label: 'Playground', to: '/playground', icon: 'chat', scope: 'inference' },
      { label: 'Models', to: '/models', icon: 'model', scope: 'inference' },
      { label: 'Tasks', to: '/tasks', icon: 'task', scope: 'inference' },
      { label: 'Compare', to: '/compare', icon: 'compare', scope: 'inference' },
      { label: 'Deployments', to: '/deployments', icon: 'server', scope: 'inference' },
    ],
  },
  {
    label: 'Account',
    entries: [
      { label: 'Usage', to: '/usage', icon: 'usage', scope: 'any' },
      { label: 'Log', to: '/log', icon: 'log', scope: 'any' },
      { label: 'Keys', to: '/keys', icon: 'key', scope: 'any' },
      { label: 'Billing', to: '/billing', icon: 'card', scope: 'any' },
      { label: 'Organization', to: '/organization', icon: 'people', scope: 'manage' },
    ],
  },
  {
    label: 'Operate',
    entries: [
      { label: 'Overview', to: '/overview', icon: 'gauge', scope: 'admin' },
      { label: 'Accounts', to: '/accounts', icon: 'people', scope: 'admin' },
      { label: 'Providers', to: '/providers', icon: 'plug', scope: 'admin' },
      { label: 'Payments', to: '/payments', icon: 'card', scope: 'admin' },
      { label: 'Promo codes', to: '/promo-codes', icon: 'tag', scope: 'admin' },
      { label: 'Audit log', to: '/audit', icon: 'book', scope: 'admin' },
    ],
  },
]

/** The pages that a key with these scopes can use. Groups without one are left out. */
export function permittedPages(scopes: readonly string[]): readonly NavigationGroup[] {
  return NAVIGATION.map(({ label, entries }) => ({
    label,
    entries: entries.filter((entry) => mayOpen(entry, scopes)),
  })).filter(({ entries }) => entries.length > 0)
}

export function mayOpen({ scope }: Pick<NavigationEntry, 'scope'>, scopes: readonly string[]): boolean {
  return scope === 'any' || scopes.includes(scope)
}

/** The page of the navigation that an address belongs to, such as that of an account to the accounts. */
export function findPage(path: string): NavigationEntry | undefined {
  return NAVIGATION.flatMap(({ entries }) => entries).find(
    ({ to }) => path === to || (to !== '/' && path.startsWith(`${to}/`)),
  )
}
