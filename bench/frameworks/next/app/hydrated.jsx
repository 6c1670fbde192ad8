"use client";

import { useEffect } from "react";

/** Marks the document once it is hydrated. The measurement waits for this. */
export function Hydrated() {
  useEffect(() => {
    document.body.dataset.hydrated = "true";
  }, []);
  return null;
}
