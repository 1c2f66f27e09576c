import type { ReactNode } from 'react'
import type { Model } from '../../../api/model-kinds.ts'
import { Page } from '../../../ui/layout/page.tsx'
import { PageHeader } from '../../../ui/layout/page-header.tsx'

interface KindPanelProps {
  readonly model: Model
  readonly picker: ReactNode
}

export function KindPanel({ picker }: KindPanelProps) {
  return (
    <Page>
      <PageHeader title="Playground" actions={picker} />
    </Page>
  )
}
