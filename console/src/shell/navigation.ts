import type { LinkProps } from '@tanstack/react-router'
import type { IconName } from '../ui/icon.tsx'

interface NavigationEntry {
  readonly label: string
  readonly to: NonNullable<LinkProps['to']>
  readonly icon: IconName
  /** The scope that a key needs for the page. */
  readonly scope: 'any' | 'inference' | 'manage' | 'admin'
  /** Whether sessions of people open it without the scope too. */
  readonly isForPeople?: true
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
      { label: 'Batches', to: '/batches', icon: 'log', scope: 'inference' },
      { label: 'Files', to: '/files', icon: 'download', scope: 'inference' },
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
      { label: 'Organization', to: '/organization', icon: 'people', scope: 'manage', isForPeople: true },
    ],
  },
  {
    label: 'Operate',
    entries: [
      { label: 'Overview', to: '/overview', icon: 'gauge', scope: 'admin' },
      { label: 'Doctor', to: '/doctor', icon: 'check', scope: 'admin' },
      { label: 'Analytics', to: '/analytics', icon: 'usage', scope: 'admin' },
      { label: 'Requests', to: '/requests', icon: 'log', scope: 'admin' },
      { label: 'Accounts', to: '/accounts', icon: 'people', scope: 'admin' },
      { label: 'Providers', to: '/providers', icon: 'plug', scope: 'admin' },
      { label: 'Models and prices', to: '/model-settings', icon: 'model', scope: 'admin' },
      { label: 'Deprecations', to: '/deprecations', icon: 'clock', scope: 'admin' },
      { label: 'Configuration', to: '/configuration', icon: 'code', scope: 'admin' },
      { label: 'Identity providers', to: '/identity-providers', icon: 'shield', scope: 'admin' },
      { label: 'Payments', to: '/payments', icon: 'card', scope: 'admin' },
      { label: 'Promo codes', to: '/promo-codes', icon: 'tag', scope: 'admin' },
      { label: 'Audit log', to: '/audit', icon: 'book', scope: 'admin' },
    ],
  },
]

/** What a session may do, as its account tells it. */
interface SessionRights {
  readonly key: { readonly scopes: readonly string[] }
  readonly session: { readonly user: object | null } | null
}

/** The pages that a session can use. Groups without one are left out. */
export function permittedPages(rights: SessionRights): readonly NavigationGroup[] {
  return NAVIGATION.map(({ label, entries }) => ({
    label,
    entries: entries.filter((entry) => mayOpen(entry, rights)),
  })).filter(({ entries }) => entries.length > 0)
}

export function mayOpen({ scope, isForPeople }: NavigationEntry, { key, session }: SessionRights): boolean {
  if (scope === 'any' || key.scopes.includes(scope)) return true
  return isForPeople === true && (session?.user ?? null) !== null
}

/** The page of the navigation that an address belongs to, such as that of an account to the accounts. */
export function findPage(path: string): NavigationEntry | undefined {
  return NAVIGATION.flatMap(({ entries }) => entries).find(
    ({ to }) => path === to || (to !== '/' && path.startsWith(`${to}/`)),
  )
}
