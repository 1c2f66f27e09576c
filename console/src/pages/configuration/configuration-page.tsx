import { useQuery } from '@tanstack/react-query'
import { exportedConfigQuery } from '../../api/configuration.ts'
import { downloadText } from '../../ui/data/download-text.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { ApplyConfiguration } from './apply-configuration.tsx'

/** Providers, models and prices as one document: to keep it, and to make the gateway what a document says. */
export function ConfigurationPage() {
  const { data, error, isPending, refetch } = useQuery(exportedConfigQuery)
  return (
    <Page>
      <PageHeader
        title="Configuration"
        description="The providers, models and prices that were added here or over the API, as one document without secrets. What the files of the gateway say is not in it."
      />
      <ApplyConfiguration />
      <Section
        title="Now"
        actions={
          data !== undefined && (
            <Button icon="download" onClick={() => downloadText('parkway.yaml', data, 'application/yaml')}>
              Download
            </Button>
          )
        }
      >
        {isPending && <SkeletonRows />}
        {error && (
          <ErrorPanel
            title="The configuration could not be loaded"
            error={error}
            onRetry={() => void refetch()}
          />
        )}
        {data !== undefined && <CodeBlock code={data} language="yaml" label="Configuration now" />}
      </Section>
    </Page>
  )
}
