import type { LinkProps } from '@tanstack/react-router'
import type { Permission } from '../api/permissions.ts'
import type { IconName } from '../ui/icon.tsx'

interface NavigationEntry {
  readonly label: string
  readonly to: NonNullable<LinkProps['to']>
  readonly icon: IconName
  /** What a session needs for the page. Null: everybody sees what is their own. */
  readonly needs: Permission | null
  /** Whether sessions of people open it without that too. */
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
      { label: 'Home', to: '/', icon: 'home', needs: null },
      { label: 'Playground', to: '/playground', icon: 'chat', needs: 'models.use' },
      { label: 'Models', to: '/models', icon: 'model', needs: 'models.use' },
      { label: 'Tasks', to: '/tasks', icon: 'task', needs: 'models.use' },
      { label: 'Batches', to: '/batches', icon: 'log', needs: 'models.use' },
      { label: 'Files', to: '/files', icon: 'download', needs: 'models.use' },
      { label: 'Compare', to: '/compare', icon: 'compare', needs: 'models.use' },
      { label: 'Deployments', to: '/deployments', icon: 'server', needs: 'deployments.read' },
    ],
  },
  {
    label: 'Account',
    entries: [
      { label: 'Usage', to: '/usage', icon: 'usage', needs: null },
      { label: 'Log', to: '/log', icon: 'log', needs: null },
      { label: 'Keys', to: '/keys', icon: 'key', needs: null },
      { label: 'Billing', to: '/billing', icon: 'card', needs: null },
      {
        label: 'Organization',
        to: '/organization',
        icon: 'people',
        needs: 'organization.read',
        isForPeople: true,
      },
    ],
  },
  {
    label: 'Operate',
    entries: [
      { label: 'Overview', to: '/overview', icon: 'gauge', needs: 'gateway.read' },
      { label: 'Doctor', to: '/doctor', icon: 'check', needs: 'gateway.read' },
      { label: 'Analytics', to: '/analytics', icon: 'usage', needs: 'gateway.read' },
      { label: 'Requests', to: '/requests', icon: 'log', needs: 'gateway.read' },
      { label: 'Accounts', to: '/accounts', icon: 'people', needs: 'gateway.read' },
      { label: 'Providers', to: '/providers', icon: 'plug', needs: 'gateway.read' },
      { label: 'Models and prices', to: '/model-settings', icon: 'model', needs: 'gateway.read' },
      { label: 'Deprecations', to: '/deprecations', icon: 'clock', needs: 'gateway.read' },
      { label: 'Configuration', to: '/configuration', icon: 'code', needs: 'gateway.manage' },
      { label: 'Identity providers', to: '/identity-providers', icon: 'shield', needs: 'gateway.read' },
      { label: 'Payments', to: '/payments', icon: 'card', needs: 'gateway.read' },
      { label: 'Promo codes', to: '/promo-codes', icon: 'tag', needs: 'gateway.read' },
      { label: 'Audit log', to: '/audit', icon: 'book', needs: 'gateway.read' },
    ],
  },
]

/** What a session may do, as its account tells it. */
interface SessionRights {
  readonly session: { readonly user: object | null; readonly permissions: readonly string[] } | null
}

/** The pages that a session can use. Groups without one are left out. */
export function permittedPages(rights: SessionRights): readonly NavigationGroup[] {
  return NAVIGATION.map(({ label, entries }) => ({
    label,
    entries: entries.filter((entry) => mayOpen(entry, rights)),
  })).filter(({ entries }) => entries.length > 0)
}

export function mayOpen({ needs, isForPeople }: NavigationEntry, { session }: SessionRights): boolean {
  if (needs === null || session?.permissions.includes(needs) === true) return true
  return isForPeople === true && (session?.user ?? null) !== null
}

/** The page of the navigation that an address belongs to, such as that of an account to the accounts. */
export function findPage(path: string): NavigationEntry | undefined {
  return NAVIGATION.flatMap(({ entries }) => entries).find(
    ({ to }) => path === to || (to !== '/' && path.startsWith(`${to}/`)),
  )
}
