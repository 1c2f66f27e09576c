import { getRouteApi } from '@tanstack/react-router'
import { useMay } from '../../api/permissions.ts'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { ImportTab } from './import/import-tab.tsx'
import { ModelsTab } from './models-tab.tsx'

const route = getRouteApi('/shell/model-settings')

const TABS = [
  { value: 'models', label: 'Models' },
  { value: 'import', label: 'Import prices' },
] as const

/** Every model as it is configured, its prices over time, and public price lists. */
export function ModelSettingsPage() {
  const { tab = 'models' } = route.useSearch()
  const navigate = route.useNavigate()
  const canImport = useMay('gateway.manage') === true
  return (
    <Page>
      <PageHeader
        title="Models and prices"
        description="Which models the gateway serves, by which providers, and what they cost from which moment on. Changes work at once, without a restart."
      />
      <Tabs
        label="Parts"
        value={tab}
        tabs={canImport ? TABS : TABS.filter(({ value }) => value !== 'import')}
        onChange={(chosen) =>
          void navigate({ search: chosen === 'import' ? { tab: 'import' } : {}, replace: true })
        }
      >
        {tab === 'import' && canImport ? <ImportTab /> : <ModelsTab />}
      </Tabs>
    </Page>
  )
}
