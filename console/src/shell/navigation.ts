import type { LinkProps } from '@tanstack/react-router'
import type { IconName } from '../ui/icon.tsx'

interface NavigationEntry {
  readonly label: string
  readonly to: NonNullable<LinkProps['to']>
  readonly icon: IconName
}

interface NavigationGroup {
  readonly label: string | null
  /** The scope that a key needs for these pages. */
  readonly scope: 'inference' | 'manage' | 'admin'
  readonly entries: readonly NavigationEntry[]
}

/** Every page in the order of the navigation. */
export const NAVIGATION: readonly NavigationGroup[] = [
  {
    label: null,
    scope: 'inference',
    entries: [
      { label: 'Home', to: '/', icon: 'home' },
      { label: 'Playground', to: '/playground', icon: 'chat' },
      { label: 'Models', to: '/models', icon: 'model' },
      { label: 'Tasks', to: '/tasks', icon: 'task' },
      { label: 'Compare', to: '/compare', icon: 'compare' },
      { label: 'Deployments', to: '/deployments', icon: 'server' },
    ],
  },
  {
    label: 'Account',
    scope: 'inference',
    entries: [
      { label: 'Usage', to: '/usage', icon: 'usage' },
      { label: 'Log', to: '/log', icon: 'log' },
      { label: 'Keys', to: '/keys', icon: 'key' },
      { label: 'Billing', to: '/billing', icon: 'card' },
    ],
  },
  {
    label: 'Operate',
    scope: 'admin',
    entries: [
      { label: 'Overview', to: '/overview', icon: 'gauge' },
      { label: 'Accounts', to: '/accounts', icon: 'people' },
      { label: 'Providers', to: '/providers', icon: 'plug' },
      { label: 'Payments', to: '/payments', icon: 'card' },
      { label: 'Promo codes', to: '/promo-codes', icon: 'tag' },
      { label: 'Audit log', to: '/audit', icon: 'book' },
    ],
  },
]
