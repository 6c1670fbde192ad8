import type { ParameterInfo } from "../../panel-data.ts";

interface Props {
  readonly fieldId: string;
  readonly parameter: ParameterInfo;
  readonly value: string;
  /** Why the text cannot be sent; empty if it can. */
  readonly problem: string;
  readonly onInput: (value: string) => void;
}

/** The field of one parameter, by its type. */
export function ParameterField({ fieldId, parameter, value, problem, onInput }: Props) {
  const { name, type, optional, defaultText, description, checked } = parameter;
  const notes = [
    optional && (defaultText === undefined ? "optional: empty is left out" : `default: ${defaultText}`),
    parameter.input === "json" && "JSON",
    checked !== "full" && (checked === "none" ? "not checked" : "partly checked"),
  ].filter((note) => note !== false);
  return (
    <div class="field">
      <label for={fieldId}>
        <code>
          <strong>{name}</strong>
          {type && `: ${type}`}
        </code>
      </label>
      <Input fieldId={fieldId} parameter={parameter} value={value} isInvalid={problem !== ""} onInput={onInput} />
      <p class="soft" id={`${fieldId}-note`}>
        {[description, notes.join(", ")].filter(Boolean).join(" · ")}
      </p>
    </div>
  );
}

interface InputProps extends Omit<Props, "problem"> {
  readonly isInvalid: boolean;
}

function Input({ fieldId, parameter, value, isInvalid, onInput }: InputProps) {
  const { name, input, optional, nullable, choices, secret } = parameter;
  const common = {
    id: fieldId,
    name,
    "aria-invalid": isInvalid,
    "aria-describedby": `${fieldId}-note`,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => onInput(event.currentTarget.value),
  };
  switch (input) {
    case "boolean":
    case "choice": {
      const values = [...(input === "boolean" ? ["true", "false"] : choices), ...(nullable ? ["null"] : [])];
      return (
        <select {...common} value={value}>
          <option value="">{optional ? "(left out)" : "(choose)"}</option>
          {values.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      );
    }
    case "file":
    case "files":
      return <input {...common} type="file" multiple={input === "files"} />;
    case "json":
      return <textarea {...common} rows={2} spellcheck={false} value={value} />;
    case "int":
    case "float":
      return <input {...common} type="text" inputMode={input === "int" ? "numeric" : "decimal"} value={value} />;
    case "text":
      return secret ? (
        <input {...common} type="password" autoComplete="off" value={value} />
      ) : (
        <input {...common} type="text" autoComplete="off" value={value} />
      );
  }
}
