import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { applyConfiguration, planConfiguration, type ConfigDocument } from '../../api/configuration.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { Button } from '../../ui/forms/button.tsx'
import { FilePicker } from '../../ui/forms/file-picker.tsx'
import { TextArea } from '../../ui/forms/text-area.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'
import { ChangeList } from './change-list.tsx'
import { readDocument } from './read-document.ts'

/** A document, what it would change, and the button that changes it. */
export function ApplyConfiguration() {
  const queryClient = useQueryClient()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [reason, setReason] = useState('')
  const plan = useMutation({
    mutationFn: async (document: ConfigDocument) => ({
      document,
      ...(await planConfiguration(document)),
    }),
  })
  const application = useMutation({
    mutationFn: ({ document, version }: { document: ConfigDocument; version: string }) =>
      applyConfiguration(document, version, reason.trim()),
    onSuccess: async ({ changes }) => {
      await queryClient.invalidateQueries()
      showToast('The configuration is applied', `${formatCountOf(changes.length, 'change')} made.`)
      plan.reset()
      edit('')
      setReason('')
    },
  })
  const edit = (next: string): void => {
    setText(next)
    setProblem(null)
    plan.reset()
    application.reset()
  }
  const compare = async (): Promise<void> => {
    application.reset()
    const read = await readDocument(text)
    setProblem(read.problem)
    if (read.problem === null) plan.mutate(read.document)
  }
  const planned = plan.data
  return (
    <Section
      title="Apply a document"
      actions={<FilePicker label="Choose a file" accept=".yaml,.yml,.json" onRead={edit} />}
    >
      <div className="flex flex-col gap-4">
        <TextArea
          label="Document"
          isCode
          rows={6}
          spellCheck={false}
          placeholder={'parkway: 1\nmodels:\n  - id: our-llama\n    …'}
          hint="YAML or JSON. A part that is given is made as it says: what it does not name is removed. A part that is absent stays as it is."
          error={problem}
          value={text}
          onChange={edit}
        />
        <div className="flex justify-end">
          <Button
            kind={planned ? 'plain' : 'primary'}
            isBusy={plan.isPending}
            disabled={text.trim() === ''}
            onClick={() => void compare()}
          >
            {planned ? 'Compare again' : 'Compare'}
          </Button>
        </div>
        {plan.error && <ErrorPanel title="The document cannot be applied" error={plan.error} />}
        {planned && (
          <div
            role="region"
            aria-label="Differences"
            className="flex flex-col gap-4 border-t border-line pt-4"
          >
            <ChangeList changes={planned.changes} />
            {planned.changes.length > 0 && (
              <>
                <TextField
                  label="Reason"
                  maxLength={500}
                  hint="For the audit log. It may be empty."
                  value={reason}
                  onChange={setReason}
                />
                {application.error && <ErrorPanel title="Nothing was changed" error={application.error} />}
                <div className="flex justify-end">
                  <Button
                    kind="primary"
                    isBusy={application.isPending}
                    onClick={() => application.mutate(planned)}
                  >
                    Apply {formatCountOf(planned.changes.length, 'change')}
                  </Button>
                </div>
              </>
            )}
          </div>
        )}
      </div>
    </Section>
  )
}
