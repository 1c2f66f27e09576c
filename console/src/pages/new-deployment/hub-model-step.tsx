import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { templatesQuery, type DeploymentTemplate } from '../../api/deployment-plans.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { readHubId } from './read-hub-id.ts'

interface HubModelStepProps {
  readonly hubId: string
  readonly isLooking: boolean
  readonly onChoose: (hubId: string) => void
  readonly onTemplate: (template: DeploymentTemplate) => void
}

/** Which model: an id of the hub, or a template as a starting point. */
export function HubModelStep({ hubId, isLooking, onChoose, onTemplate }: HubModelStepProps) {
  const [draft, setDraft] = useState(hubId)
  const [known, setKnown] = useState(hubId)
  // The id also changes by choosing a template, and by going back.
  if (known !== hubId) {
    setKnown(hubId)
    setDraft(hubId)
  }
  const templates = useQuery(templatesQuery)
  return (
    <Section title="1. Model">
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          if (draft.trim() !== '') onChoose(readHubId(draft))
        }}
      >
        <TextField
          label="Id on the hub, or the address of its page"
          placeholder="Qwen/Qwen3-8B"
          value={draft}
          onChange={setDraft}
          className="max-w-md grow"
          spellCheck={false}
          autoComplete="off"
        />
        <Button
          type="submit"
          kind={hubId === '' ? 'primary' : 'plain'}
          isBusy={isLooking}
          disabled={draft.trim() === ''}
        >
          Look up
        </Button>
      </form>
      {templates.error && hubId === '' && (
        <div className="mt-6">
          <ErrorPanel
            title="Templates could not be loaded"
            error={templates.error}
            onRetry={() => void templates.refetch()}
          />
        </div>
      )}
      {templates.data && hubId === '' && (
        <>
          <p className="mt-6 mb-2 text-xs font-medium text-ink-soft">Or begin with a template</p>
          <ul className="grid grid-cols-[repeat(auto-fill,minmax(240px,1fr))] gap-3">
            {templates.data.map((template) => (
              <li key={template.id}>
                <button
                  type="button"
                  onClick={() => onTemplate(template)}
                  className="flex h-full w-full flex-col gap-1 rounded-md border border-line p-3 text-left transition-colors hover:border-line-strong hover:bg-sunken"
                >
                  <span className="text-sm font-medium">{template.name}</span>
                  <span className="text-xs text-ink-soft">{template.description}</span>
                  <span className="mt-auto flex flex-wrap gap-1 pt-1">
                    <Badge>{template.gpu_tier}</Badge>
                    {template.tags.map((tag) => (
                      <Badge key={tag}>{tag}</Badge>
                    ))}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  )
}
