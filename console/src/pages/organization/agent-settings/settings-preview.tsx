import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { previewSettings, type ManagedSettings } from '../../../api/managed-settings.ts'
import { membersQuery } from '../../../api/people.ts'
import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { Section } from '../../../ui/layout/section.tsx'
import { CodeBlock } from '../../../ui/text/code-block.tsx'

interface SettingsPreviewProps {
  readonly policies: readonly ManagedSettings[]
  readonly nameOf: (groupId: string | null) => string
}

/** What the agents of one person get, and of which settings it is made. */
export function SettingsPreview({ policies, nameOf }: SettingsPreviewProps) {
  const listId = useId()
  const members = useInfiniteQuery(membersQuery())
  const [email, setEmail] = useState('')
  const preview = useMutation({ mutationFn: () => previewSettings(email.trim()) })
  const { data } = preview
  const sources = (data?.managed_settings_ids ?? []).map((id) => {
    const policy = policies.find((one) => one.id === id)
    return policy === undefined ? id : nameOf(policy.group_id)
  })
  return (
    <Section title="What a person gets">
      <div className="flex flex-col gap-4">
        <form
          className="flex max-w-xl items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            preview.mutate()
          }}
        >
          <TextField
            label="E-mail address of a member"
            type="email"
            className="grow"
            required
            maxLength={320}
            list={listId}
            autoComplete="off"
            value={email}
            onChange={setEmail}
          />
          <datalist id={listId}>
            {(members.data?.pages.flatMap((page) => page.data) ?? []).map((member) => (
              <option key={member.id} value={member.email}>
                {member.name}
              </option>
            ))}
          </datalist>
          <Button type="submit" isBusy={preview.isPending} disabled={email.trim() === ''}>
            Show
          </Button>
        </form>
        {preview.error && <ErrorPanel title="The settings could not be shown" error={preview.error} />}
        {data && (
          <div className="flex flex-col gap-2" aria-live="polite">
            <p className="text-sm text-ink-soft">
              {data.settings === null
                ? 'No settings: neither everybody nor a group of this person has any.'
                : `Put over each other in this order: ${sources.join(', then ')}.`}
            </p>
            {data.settings !== null && (
              <CodeBlock
                label="Settings of the person"
                language="json"
                code={JSON.stringify(data.settings, null, 2)}
              />
            )}
          </div>
        )}
      </div>
    </Section>
  )
}
