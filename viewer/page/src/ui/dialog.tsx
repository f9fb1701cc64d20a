// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './parts';

/** A dialog over the page. The browser keeps the focus in it and closes it with Escape. */
export function Dialog({ title, onClose, children, small = false }: { title: string; onClose: () => void; children: ComponentChildren; small?: boolean }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement;
    dialog.showModal();
    // The first button, which is harmless, gets the focus, because it could be pressed by mistake.
    dialog.querySelector<HTMLElement>('footer .button')?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={small ? 'small' : undefined}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <div class="dialog">
        <header>
          <h2>{title}</h2>
          <Button label="Close" icon="close" iconOnly quiet onPress={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** A dialog that asks for confirmation of an action that cannot be undone. */
export function Confirm(props: { title: string; text: string; yes: string; onYes: () => void; onClose: () => void }) {
  return (
    <Dialog small title={props.title} onClose={props.onClose}>
      <p>{props.text}</p>
      <footer>
        <Button label="Cancel" onPress={props.onClose} />
        <Button
          label={props.yes}
          kind="danger"
          onPress={() => {
            props.onYes();
            props.onClose();
          }}
        />
      </footer>
    </Dialog>
  );
}
