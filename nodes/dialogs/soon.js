/*
 * Does `work` as soon as the script that runs has ended, once, however often it is called until then: as a dialog opens,
 * Node-RED says of each field that it has changed.
 */
export function soon(work) {
  let isDue = false;
  return () => {
    if (isDue) {
      return;
    }
    isDue = true;
    queueMicrotask(() => {
      isDue = false;
      work();
    });
  };
}
